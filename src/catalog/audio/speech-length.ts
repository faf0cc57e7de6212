/** The maximum characters of a spoken text. Prices do not count characters, so this is as much as the price covers. */
export const MAX_SPEECH_LENGTH = 1_000
