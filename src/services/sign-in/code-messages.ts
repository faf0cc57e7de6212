import type { Brand } from '../../domain/brand.ts'
import type { MailMessage } from '../../ports/mailer.ts'
import { CODE_MS } from './one-time-codes.ts'

interface CodeMail {
  to: string
  code: string
  brand: Pick<Brand, 'name'>
  publicUrl: string
}

const MINUTES = CODE_MS / 60_000

/** The mail with a sign-in code. Lines are short, so that no mail program breaks them. */
export const signInMessage = ({ to, code, brand, publicUrl }: CodeMail): MailMessage => ({
  to,
  subject: `Your code to sign in to ${brand.name}`,
  text: `Enter this code to sign in at ${publicUrl}/console/sign-in:

    ${code}

It works once, within ${MINUTES} minutes, in the browser that requested it.

If you did not request it, ignore this message. Do not give the code
to anyone: people who ask you for it want to use your account.
`,
})

/** The mail with a code that links an address to an account. */
export const linkMessage = ({ to, code, brand, publicUrl }: CodeMail): MailMessage => ({
  to,
  subject: `Your code to add this address to a ${brand.name} account`,
  text: `Somebody who is signed in at ${publicUrl}/console
wants to sign in to the same account with this address too.
If this is you, enter the code there:

    ${code}

It works once, within ${MINUTES} minutes, in the browser that requested it.
The address then belongs to that account for good.

If it is not you, ignore this message. Do not give the code to anyone.
`,
})

/** The mail with a code that confirms who uses a session. */
export const confirmMessage = ({ to, code, brand, publicUrl }: CodeMail): MailMessage => ({
  to,
  subject: `Your code to confirm a change to your ${brand.name} account`,
  text: `Somebody who is signed in at ${publicUrl}/console
wants to change something that needs a code. If this is you, enter it
there:

    ${code}

It works once, within ${MINUTES} minutes, in the browser that requested it.

If it is not you, do not give the code to anyone. Sign in, and end the
other sessions of your account in its settings.
`,
})

/** The mail that tells the other addresses of an account that one was added. */
export const linkedMessage = ({
  to,
  added,
  brand,
  publicUrl,
}: Omit<CodeMail, 'code'> & { added: string }): MailMessage => ({
  to,
  subject: `A way to sign in was added to your ${brand.name} account`,
  text: `This now signs in to your account as well:

    ${added}

If it was not you, sign in and end the other sessions of your account:

${publicUrl}/console/settings

Then write to the operator of the service.
`,
})

/** The mail that tells the other addresses of an account that its sessions were ended. */
export const sessionsEndedMessage = ({ to, brand, publicUrl }: Omit<CodeMail, 'code'>): MailMessage => ({
  to,
  subject: `Sessions of your ${brand.name} account were ended`,
  text: `Somebody who is signed in to your account has ended other sessions
of it, after a code that was sent to its first address.

If it was not you, sign in and end the other sessions of your account:

${publicUrl}/console/settings

Then write to the operator of the service.
`,
})

/** The mail to a person who may open an account. */
export const invitationMessage = ({ to, brand, publicUrl }: Omit<CodeMail, 'code'>): MailMessage => ({
  to,
  subject: `You are invited to ${brand.name}`,
  text: `You may open an account at ${publicUrl}/console/sign-in
with this e-mail address. You get a code by mail to sign in.

If you do not expect this invitation, ignore this message.
`,
})
