import { Type } from 'typebox'

/** Attempts to deliver a message. They count from 1. */
export const Attempt = Type.Integer({ minimum: 1 })

/** The final status of an HTTP response. */
export const HttpStatus = Type.Integer({ minimum: 100, maximum: 999 })

/** Why a message was not accepted, in words for the account's owner. */
export const AttemptReason = Type.String({ minLength: 1, maxLength: 300 })
