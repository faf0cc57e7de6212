import type { Mailer } from '../../../src/ports/mailer.ts'
import { codeIn } from '../../support/browser-client.ts'
import type { World } from './world.ts'

/** The mail server of all processes. Visitors read the codes. */
export const simulatedMailer = (world: World): Mailer => ({
  send: async ({ to, text }) => {
    const { chance, timeline, truth, mail, faults } = world
    await timeline.pass(chance.between(1, 200))
    if (chance.happens(faults.receiverFails)) throw new Error('the mail server failed with EENVELOPE 450')
    const code = codeIn(text)
    if (code === undefined) truth.notices.noteMail()
    else mail.set(to, [...(mail.get(to) ?? []), code])
  },
  close: () => undefined,
})
