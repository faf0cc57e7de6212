import type { EmailIdentity } from '../../../schemas/identity.ts'

/** The identity of the account that the first start opens. No mail reaches it: the first start shows a link instead. */
export const FIRST_OWNER: EmailIdentity = { kind: 'email', address: 'owner@localhost' }

/** The page of that link. */
export const FIRST_SIGN_IN_PATH = '/console/sign-in/first'
