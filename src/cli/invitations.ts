import { type Config, publicUrlOf } from '../boot/config.ts'
import { openMailer } from '../boot/stores.ts'
import { invitationMessage } from '../services/sign-in/code-messages.ts'
import { OperatorError } from './operator-error.ts'

/** Mails a recorded invitation, and says where it went. Throws OperatorError if the mail server refuses it. */
export const mailInvitation = async (config: Config, to: string): Promise<string> => {
  if (config.registration.mode === 'closed')
    return 'No mail was sent: with REGISTRATION=closed, people cannot open accounts, even with an invitation.'
  const mailer = await openMailer(config)
  const publicUrl = publicUrlOf(config, config.port)
  try {
    await mailer.send(invitationMessage({ to, publicUrl }))
  } catch (error) {
    const { message } = error as Error
    throw new OperatorError(`The invitation is recorded, but ${message}. Repeat the command to send the mail.`)
  } finally {
    mailer.close()
  }
  const where =
    mailer.folder === undefined
      ? `The invitation was mailed to ${to}.`
      : `SMTP_URL is not set, so the mail to ${to} is the newest file in ${mailer.folder}.`
  return `${where} The link in the mail is ${publicUrl}/console/sign-in; to change the link, set PUBLIC_URL.`
}
