/** Sends mail to people. */
export interface Mailer {
  /** The folder that messages are written to, if they go no further. */
  folder?: string
  /** Resolves once the message is written, or a mail server has accepted it. Rejects if it may be tried again. */
  send(message: MailMessage): Promise<void>
  close(): void
}

/** A message in plain text, which the sender of the service signs. */
export interface MailMessage {
  to: string
  subject: string
  text: string
}
