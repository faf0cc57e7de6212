/** The length of tests that repeat something at random or for many cases. `npm run test:long` runs them in full. */
export const isLong = process.env['TEST_LENGTH'] === 'long'
