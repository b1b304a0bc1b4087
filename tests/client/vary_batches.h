/* Batches of random lengths, for tests of the pipelined client. */
#ifndef SOMA_TESTS_VARY_BATCHES_H
#define SOMA_TESTS_VARY_BATCHES_H

/* When SOMA_TEST_FLUSH is set to a seed: from now on the client sends a batch as soon as it holds
 * another random number of commands, 1 to 7. Without it nothing changes. */
void vary_batches(void);

#endif
