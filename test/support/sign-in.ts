import type { Identity } from '../../schemas/identity.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import type { Mailer, MailMessage } from '../../src/ports/mailer.ts'
import type { AccountMailboxes } from '../../src/services/accounts/account-mailboxes.ts'
import { Admissions, type RegistrationRules } from '../../src/services/sign-in/admissions.ts'
import { KnownBrowsers, SessionTokens } from '../../src/services/sign-in/browser-tokens.ts'
import { Identities } from '../../src/services/sign-in/identities.ts'
import type { Logins } from '../../src/services/sign-in/logins.ts'
import { MailQueue } from '../../src/services/sign-in/mail-queue.ts'
import { OneTimeCodes } from '../../src/services/sign-in/one-time-codes.ts'
import { SessionPlaces } from '../../src/services/sign-in/session-places.ts'
import { SessionHolders, Sessions, type SigningIn } from '../../src/services/sign-in/sessions.ts'
import { type CodeEntry, SignIn } from '../../src/services/sign-in/sign-in.ts'
import { ourBrand } from './brands.ts'
import { accountsOn, ambient, loginsOn, masterSecret, noSnapshots } from './engine.ts'
import type { ManualClock } from './manual-clock.ts'
import { until } from './until.ts'
import { unwrap } from './unwrap.ts'

export { masterSecret }
export const anonymous = { kind: 'anonymous' } as const
export const WELCOME_MICROS = 100_000_000

/** A mailer that keeps what it sends. */
export class KeptMail implements Mailer {
  readonly sent: MailMessage[] = []

  async send(message: MailMessage) {
    this.sent.push(message)
  }

  close() {}

  /** The code in the newest message to an address. */
  codeFor(address: string): string {
    const text = this.sent.findLast(({ to }) => to === address)?.text ?? ''
    return /\b[B-Z]{4}-[B-Z]{4}\b/.exec(text)?.[0] ?? ''
  }
}

interface Options {
  rules?: Partial<RegistrationRules>
  codesPerMinute?: number
  accounts?: AccountMailboxes
  logins?: Logins
}

const welcomes = { maxWelcomesPerNetwork: 3, welcomesDisposable: false }

/** The networks of all tests in this process. */
let networks = 0

/** The services that sign people in, as in one process. Several processes may share a log. */
export const signInOn = (
  log: EventLog,
  clock: ManualClock,
  { rules = {}, codesPerMinute = 10_000, ...given }: Options = {},
) => {
  const parts = ambient(clock)
  const { accounts = accountsOn(log, clock), logins = loginsOn(log, clock) } = given
  const tokens = new SessionTokens(masterSecret)
  const mailer = new KeptMail()
  const admissions = new Admissions({
    ...{ log, snapshots: noSnapshots, ...parts, welcomeMicros: WELCOME_MICROS, masterSecret, logins },
    rules: { mode: 'open', domains: undefined, maxPerDay: 1000, maxWelcomeMicrosPerDay: 1e15, ...welcomes, ...rules },
  })
  const mail = new MailQueue({ mailer, ...parts })
  const browsers = new KnownBrowsers(masterSecret, clock)
  const codes = new OneTimeCodes({ ...parts, logins, mail, masterSecret, browsers, codesPerMinute })
  const places = new SessionPlaces(masterSecret, parts.random)
  const common = {
    ...parts,
    accounts,
    logins,
    codes,
    browsers,
    places,
    telegram: undefined,
    brand: ourBrand,
    publicUrl: () => 'http://localhost',
  }
  const signIn = new SignIn({ ...common, admissions, tokens, welcomeMicros: WELCOME_MICROS })
  /** Each request comes from a network of its own, so that only other limits hold. */
  const network = () => `network ${++networks}`
  /** Returns a function that waits for a message that is sent from now on, and takes the code from it. */
  const newMail = (email: string) => {
    const count = () => mailer.sent.filter(({ to }) => to === email).length
    const before = count()
    return async () => {
      await until('the mail is sent', () => count() > before)
      return mailer.codeFor(email)
    }
  }
  return {
    ...{ accounts, logins, mailer, signIn, network, newMail },
    holders: new SessionHolders({ accounts, tokens, clock }),
    sessions: new Sessions({ ...common, mail }),
    identities: new Identities({ ...common, mail }),

    /** Requests a code and takes it from the mail. */
    codeFor: async (email: string) => {
      const code = newMail(email)
      const { codeId } = unwrap(await signIn.requestCode(anonymous, { email, network: network() }))
      return { email, codeId, code: await code() }
    },

    enter: (entry: Omit<CodeEntry, 'network'> & Partial<SigningIn>) =>
      signIn.enterCode(anonymous, { network: network(), ...entry }),
  }
}

export const emailOf = (address: string): Identity => ({ kind: 'email', address })
