import type { MailMessage } from '../../ports/mailer.ts'

interface CodeMail {
  to: string
  code: string
  url: string
  minutes: number
}

/** The message that carries a code to sign in. */
export const codeMessage = ({ to, code, url, minutes }: CodeMail): MailMessage => ({
  to,
  subject: 'Your code to sign in to Tollgate',
  text: `Enter this code to sign in at ${url}/console/sign-in:

    ${code}

It works once, within ${minutes} minutes, in the browser that requested it.

If you did not request it, ignore this message. Give the code to
nobody: whoever asks you for it wants to use your account.
`,
})
