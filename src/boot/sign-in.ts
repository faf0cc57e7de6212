import { Admissions, registrationSnapshots } from '../services/sign-in/admissions.ts'
import type { KnownBrowsers, SessionTokens } from '../services/sign-in/browser-tokens.ts'
import { Identities } from '../services/sign-in/identities.ts'
import type { MailQueue } from '../services/sign-in/mail-queue.ts'
import { OneTimeCodes } from '../services/sign-in/one-time-codes.ts'
import { SessionPlaces } from '../services/sign-in/session-places.ts'
import { Sessions } from '../services/sign-in/sessions.ts'
import { SignIn } from '../services/sign-in/sign-in.ts'
import type { TelegramProofs } from '../services/sign-in/telegram-proofs.ts'
import type { Core } from './core.ts'

interface SignInDependencies {
  tokens: SessionTokens
  browsers: KnownBrowsers
  mail: MailQueue
  telegram: TelegramProofs | undefined
  publicUrl: () => string
}

/** Opens the services with which people open accounts and sign in. */
export const openSignIn = (core: Core, { tokens, browsers, mail, telegram, publicUrl }: SignInDependencies) => {
  const { config, log, snapshotsOf, clock, random, logger, masterSecret, accounts, logins } = core
  const { brand, welcomeMicros, registration: rules, signInCodesPerMinute: codesPerMinute } = config
  const snapshots = snapshotsOf(registrationSnapshots)
  const admissions = new Admissions({
    log,
    snapshots,
    clock,
    random,
    logger,
    rules,
    welcomeMicros,
    masterSecret,
    logins,
  })
  const codes = new OneTimeCodes({ logins, mail, clock, random, logger, masterSecret, browsers, codesPerMinute })
  const places = new SessionPlaces(masterSecret, random)
  const dependencies = { accounts, logins, codes, mail, browsers, places, telegram, clock, random, brand, publicUrl }
  return {
    signIn: new SignIn({ ...dependencies, tokens, admissions, welcomeMicros }),
    identities: new Identities(dependencies),
    sessions: new Sessions(dependencies),
  }
}
