/* argv -> one call per verb. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

/* Runs the command line and returns the exit status: 0 ok, 1 the answer is no, 2 usage, 3
 * input/output, 4 bad input, 5 internal or unsupported, 130 interrupted. */
int cli_main(int argc, char **argv);

#endif
