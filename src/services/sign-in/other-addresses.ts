import type { Identity } from '../../../schemas/identity.ts'
import { isSameIdentity } from '../../domain/login/identity.ts'
import type { MailMessage } from '../../ports/mailer.ts'
import type { MailQueue } from './mail-queue.ts'

/** Tells the other addresses of an account of a change, so that the owner of a stolen session learns of it. */
export const tellOthers = (
  mail: Pick<MailQueue, 'add'>,
  { identities, not }: { identities: readonly Identity[]; not: Identity | undefined },
  messageTo: (address: string) => MailMessage,
) => {
  for (const each of identities)
    if (each.kind === 'email' && !(not && isSameIdentity(each, not)))
      mail.add(messageTo(each.address), { isFirst: true })
}
