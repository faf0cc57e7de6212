/** Sends mail to people. */
export interface Mailer {
  /** The folder that gets the messages, if they are not sent. */
  folder?: string
  /** Resolves once the message is written, or a mail server has accepted it. Rejects if the caller may try again. */
  send(message: MailMessage): Promise<void>
  close(): void
}

/** The sender as mail shows it, such as `Ada <ada@example.com>`, or its parts. */
export type Sender = string | { name: string; address: string }

/** A message in plain text. The mailer adds the sender. */
export interface MailMessage {
  to: string
  subject: string
  text: string
}
