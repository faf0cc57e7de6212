/** Characters of a text that is spoken. A price does not count them, so this is what vendors sell for that price. */
export const MAX_SPEECH_LENGTH = 1_000
