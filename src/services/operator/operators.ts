import type { Identity } from '../../../schemas/identity.ts'
import type { Caller, SessionOwner } from '../caller.ts'
import type { MailQueue } from '../sign-in/mail-queue.ts'

interface Dependencies {
  /** In the form of identities. */
  addresses: readonly string[]
  mail: Pick<MailQueue, 'add'>
  publicUrl: () => string
}

/** The people who operate the service. They sign in with addresses that the configuration lists. */
export class Operators {
  readonly #dependencies: Dependencies

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** The address of an operator among the identities of an account, each of which was proved; undefined for others. */
  addressOf(identities: readonly Identity[]): string | undefined {
    const { addresses } = this.#dependencies
    const found = identities.find(each => each.kind === 'email' && addresses.includes(each.address))
    return found?.kind === 'email' ? found.address : undefined
  }

  /** The operator that a signed-in person is, whose name the log records; undefined for others. */
  callerOf({ requestId }: SessionOwner, identities: readonly Identity[]): Operator | undefined {
    const name = this.addressOf(identities)
    return name === undefined ? undefined : { kind: 'operator', name, requestId }
  }

  /** Tells the other operators what one of them did to money, access or prices, and on which page to see it. */
  tellOthers({ name }: Operator, { path, lines }: { path: string; lines: readonly string[] }) {
    const { addresses, mail, publicUrl } = this.#dependencies
    for (const to of addresses)
      if (to !== name)
        mail.add({
          to,
          subject: `${name} acted as an operator of Tollgate`,
          text: `${name} did this in the console:

${lines.map(line => `    ${line}`).join('\n')}

${publicUrl()}${path}
`,
        })
  }
}

/** An operator who has signed in. */
export type Operator = Extract<Caller, { kind: 'operator' }> & { accountId?: never }
