/* Fluid sharing of memory bandwidth. */
#include <assert.h>
#include <string.h>

#include "device/internal.h"

/* Counts what the slot did since its speed was last set. */
static void settle(struct slot *slot, tick now)
{
	u128 done = (u128)slot->speed * (now - slot->since);
	slot->left = slot->left > done ? slot->left - done : 0;
	slot->since = now;
}

static void set_speed(struct memory *memory, struct slot *slot, uint64_t speed)
{
	if (slot->speed == speed)
		return;
	tick now = memory->des->now;
	settle(slot, now);
	slot->speed = speed;
	u128 ticks = speed == SPEED_FULL ? (slot->left + SPEED_FULL - 1) >> 32
					 : (slot->left + speed - 1) / speed;
	des_at(memory->des, &slot->event, now + (tick)ticks);
}

static void share_out(struct memory *memory)
{
	if (memory->demand <= memory->bytes_per_s && !memory->throttled)
		return;
	memory->throttled = false;
	uint64_t left = memory->bytes_per_s;
	for (uint32_t i = 0; i < memory->n_active; i++) {
		struct slot *slot = memory->active[i];
		uint64_t share = left / (memory->n_active - i);
		if (slot->demand <= share) {
			set_speed(memory, slot, SPEED_FULL);
			left -= slot->demand;
			continue;
		}
		uint64_t speed = (uint64_t)(((u128)share << 32) / slot->demand);
		set_speed(memory, slot, speed > 0 ? speed : 1);
		left -= share;
		memory->throttled = true;
	}
}

void memory_enter(struct memory *memory, struct slot *slot, tick alone)
{
	slot->since = memory->des->now;
	slot->speed = SPEED_FULL;
	slot->left = (u128)alone << 32;
	des_at(memory->des, &slot->event, slot->since + alone);
	if (slot->demand == 0)
		return;
	uint32_t at = memory->n_active++;
	for (; at > 0 && memory->active[at - 1]->demand > slot->demand; at--)
		memory->active[at] = memory->active[at - 1];
	memory->active[at] = slot;
	memory->demand += slot->demand;
	share_out(memory);
}

void memory_leave(struct memory *memory, struct slot *slot)
{
	if (slot->demand == 0)
		return;
	uint32_t at = 0;
	while (memory->active[at] != slot)
		at++;
	memory->n_active--;
	memmove(&memory->active[at], &memory->active[at + 1],
		(memory->n_active - at) * sizeof(memory->active[0]));
	memory->demand -= slot->demand;
	share_out(memory);
}
