const length = process.env['TEST_LENGTH']

/** The length of tests that repeat something at random or for many cases. `npm run test:long` runs more of them. */
export const isLong = length === 'long' || length === 'full'

/** `TEST_LENGTH=newer` is the short form without what no version of Node.js changes, for the newer ones. */
export const isNewer = length === 'newer'

/** `TEST_LENGTH=full` runs all cases of the tests that would take most of the time of the long form. */
const isFull = length === 'full'

/** How many endings of texts, and of streams, are tried. */
export const ENDINGS = isFull ? 10_000 : isLong ? 2_500 : 240

/** A process crashes after every step so far apart. An odd number, so that each of two processes crashes. */
export const CRASH_EVERY = isFull ? 1 : isLong ? 7 : 121

/** A test fails after this time: twice what the longest ones take on a busy machine with two processors. */
export const TEST_TIMEOUT_MS = 600_000

/** A process that ends no test in this time is ended. Longer than a test may take, so that the test is named. */
export const PROCESS_TIMEOUT_MS = 660_000
