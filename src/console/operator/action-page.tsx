import type { Children } from '#jsx/jsx-runtime'
import { GRANT_KINDS, MAX_LIMIT } from '../../../schemas/account-events.ts'
import { MAX_REASON_LENGTH, MAX_REFERENCE_LENGTH } from '../../../schemas/primitives.ts'
import type { AccountSummary } from '../../services/accounts/accounts.ts'
import { Code } from '../parts/code.tsx'
import { Fact } from '../parts/fact.tsx'
import { Button, Fault, Field, Form, faulty } from '../parts/form.tsx'
import { credits } from '../parts/text.ts'
import { Shell } from '../shell.tsx'
import { ACCOUNTS, type ActionName, accountPath, nameOf } from './account-words.ts'

const TITLES: Record<ActionName, string> = {
  grant: 'Grant credits',
  withdraw: 'Withdraw credits',
  suspend: 'Suspend account',
  resume: 'Resume account',
  limits: 'Set limits',
  tester: 'Set test models',
}

/** The fields of the forms by name, as they were entered. */
export type Entered = Readonly<Record<string, string>>

interface FormProps {
  action: ActionName
  summary: AccountSummary
  /** Makes a second sending of the form the same grant. */
  formReference: string
  entered: Entered
  fault?: FormFault | undefined
}

/** What is wrong with a form, and with which field. */
export interface FormFault {
  fault: string
  /** The ID of the field; undefined for the whole form. */
  at?: string | undefined
}

/** The first step of an action: what to do, and why. */
export const ActionPage = ({ action, summary, formReference, entered, fault }: FormProps) => (
  <Frame action={action} summary={summary}>
    <Form action={`${accountPath(summary.account.accountId)}/${action}`} class="stack">
      <Fault text={fault?.at === undefined ? fault?.fault : undefined} />
      {(action === 'grant' || action === 'withdraw') && (
        <CreditFields action={action} entered={entered} fault={fault} />
      )}
      {action === 'limits' && <LimitFields summary={summary} entered={entered} fault={fault} />}
      {action === 'tester' && <TesterField summary={summary} entered={entered} />}
      {action in HINTS && (
        <Field id="reason" label="Reason" hint={HINTS[action as keyof typeof HINTS]} fault={faultAt('reason', fault)}>
          <input
            id="reason"
            name="reason"
            required
            maxlength={MAX_REASON_LENGTH}
            autocomplete="off"
            value={entered['reason'] ?? ''}
            {...faulty('reason', faultAt('reason', fault))}
          />
        </Field>
      )}
      <input type="hidden" name="form_reference" value={formReference} />
      <div class="row">
        <Button class="main">Review {NOUNS[action]}</Button>
        <a class="button quiet" href={accountPath(summary.account.accountId)}>
          Cancel
        </a>
      </div>
      {action === 'grant' && <Purchases accountId={summary.account.accountId} />}
    </Form>
  </Frame>
)

const faultAt = (id: string, fault: FormFault | undefined): string | undefined =>
  fault?.at === id ? fault.fault : undefined

const NOUNS: Record<ActionName, string> = {
  grant: 'grant',
  withdraw: 'withdrawal',
  suspend: 'suspension',
  resume: 'resumption',
  limits: 'limits',
  tester: 'change',
}

/** Who sees the reason of an action that has one. */
const HINTS = {
  grant: 'the owner sees it in the statement',
  withdraw: 'the owner sees it in the statement',
  suspend: 'the owner sees it',
  resume: 'recorded in the log',
}

interface CreditFieldsProps {
  action: 'grant' | 'withdraw'
  entered: Entered
  fault: FormFault | undefined
}

const CreditFields = ({ action, entered, fault }: CreditFieldsProps) => (
  <>
    <Field id="credits" label="Credits" hint="with at most six decimals" fault={faultAt('credits', fault)}>
      <input
        id="credits"
        name="credits"
        inputmode="decimal"
        required
        autocomplete="off"
        value={entered['credits'] ?? ''}
        {...faulty('credits', faultAt('credits', fault))}
      />
    </Field>
    <Field
      id="kind"
      label={action === 'grant' ? 'Kind' : 'Kind of the grant to take back'}
      fault={faultAt('kind', fault)}
    >
      <select id="kind" name="kind" {...faulty('kind', faultAt('kind', fault))}>
        {kindsOf(action).map(kind => (
          <option key={kind} value={kind} selected={kind === (entered['kind'] ?? firstKindOf(action))}>
            {KINDS[kind]}
          </option>
        ))}
      </select>
    </Field>
    <Field
      id="reference"
      label="Reference"
      hint="optional; the same one counts once"
      fault={faultAt('reference', fault)}
    >
      <input
        id="reference"
        name="reference"
        maxlength={MAX_REFERENCE_LENGTH}
        autocomplete="off"
        placeholder="An invoice or a ticket"
        value={entered['reference'] ?? ''}
        {...faulty('reference', faultAt('reference', fault))}
      />
    </Field>
  </>
)

const Purchases = ({ accountId }: { accountId: string }) => (
  <details class="small muted">
    <summary>Record a purchase with its payment instead</summary>
    <Code id="purchase" label="On the command line">
      {purchaseCommand(accountId)}
    </Code>
  </details>
)

const purchaseCommand = (accountId: string): string =>
  [
    `tollgate credits grant ${accountId} 1000`,
    "--kind purchase --paid '10.00 USD' --reference INVOICE --reason 'bought credits'",
  ].join(' ')

/** A purchase needs its payment: the command line records one. */
export const kindsOf = (action: 'grant' | 'withdraw') =>
  action === 'grant' ? (['courtesy', 'correction'] as const) : GRANT_KINDS

const firstKindOf = (action: 'grant' | 'withdraw') => (action === 'grant' ? 'courtesy' : 'correction')

const KINDS: Record<(typeof GRANT_KINDS)[number], string> = {
  welcome: 'Welcome',
  purchase: 'Purchase',
  courtesy: 'Courtesy',
  correction: 'Correction',
}

const LimitFields = ({ summary: { limits }, entered, fault }: Pick<FormProps, 'summary' | 'entered' | 'fault'>) => (
  <>
    <p class="muted">Without a number, the account has the same limit as all others.</p>
    {LIMITS.map(({ name, label, of }) => (
      <Field key={name} id={name} label={label} fault={faultAt(name, fault)}>
        <input
          id={name}
          name={name}
          type="number"
          min={1}
          max={MAX_LIMIT}
          placeholder="As for all accounts"
          value={entered[name] ?? limits[of] ?? ''}
          {...faulty(name, faultAt(name, fault))}
        />
      </Field>
    ))}
  </>
)

const TesterField = ({ summary: { tester }, entered }: { summary: AccountSummary; entered: Entered }) => (
  <Field id="tester" label="Models in test" hint="models that are not public yet">
    <select id="tester" name="tester">
      {Object.entries(TESTER_CHOICES).map(([choice, label]) => (
        <option key={choice} value={choice} selected={choice === (entered['tester'] ?? (tester ? 'yes' : 'no'))}>
          {label}
        </option>
      ))}
    </select>
  </Field>
)

export const TESTER_CHOICES = {
  yes: 'The account sees and runs them',
  no: 'They do not exist for the account',
} as const

/** The fields of the limits. */
export const LIMITS = [
  { name: 'requests_per_minute', label: 'Requests a minute', of: 'requestsPerMinute' },
  { name: 'runs_in_flight', label: 'Runs at a time', of: 'runsInFlight' },
] as const

/** What an action will do, in a sentence, facts and a button. */
export interface SecondLook {
  sentence: string
  facts: readonly { name: string; text: string }[]
  button: string
  isDangerous?: boolean
}

interface LookProps {
  action: ActionName
  summary: AccountSummary
  formReference: string
  entered: Entered
  look: SecondLook
}

/** The second step of an action: what will happen, before it does. */
export const SecondLookPage = ({ action, summary, formReference, entered, look }: LookProps) => (
  <Frame action={action} summary={summary}>
    <Form action={`${accountPath(summary.account.accountId)}/${action}`} class="stack">
      <p class="look">
        <strong>
          <bdi>{look.sentence}</bdi>
        </strong>
      </p>
      <dl class="facts">
        {look.facts.map(({ name, text }) => (
          <Fact key={name} name={name}>
            <bdi>{text}</bdi>
          </Fact>
        ))}
      </dl>
      {Object.entries(entered).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <input type="hidden" name="form_reference" value={formReference} />
      <div class="row wrap">
        <Button name="step" value="do" class={look.isDangerous ? 'danger' : 'main'}>
          {look.button}
        </Button>
        <Button name="step" value="change" class="quiet">
          Change it
        </Button>
      </div>
    </Form>
  </Frame>
)

interface FrameProps {
  action: ActionName
  summary: AccountSummary
  children: Children
}

const Frame = ({ action, summary: { account, balanceMicros }, children }: FrameProps) => (
  <Shell
    title={TITLES[action]}
    heading={
      <>
        <a href={ACCOUNTS}>Accounts</a> / <a href={accountPath(account.accountId)}>{nameOf(account)}</a>
      </>
    }
  >
    <div class="page action">
      <section class="card" aria-labelledby="action">
        <div class="head">
          <h2 id="action">{TITLES[action]}</h2>
          <span class="muted small">Balance {credits(balanceMicros)}</span>
        </div>
        <div class="pad">{children}</div>
      </section>
    </div>
  </Shell>
)
