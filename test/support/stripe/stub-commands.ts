import { writeFile } from 'node:fs/promises'
import { balanceReport, reportText } from './balance-report.ts'
import type { StripeStub } from './stub.ts'

/** What an operator does at Stripe's dashboard, and a bank behind it. */
const commands: Record<
  string,
  { takes: string; does: (stub: StripeStub, ...args: string[]) => string | Promise<string> }
> = {
  refund: {
    takes: 'pi_… [CENTS]',
    does: (stub, payment = '', cents) => {
      const { id, amount } = stub.refund(payment, cents === undefined ? undefined : Number(cents))
      return `${id} returns ${amount}`
    },
  },
  dispute: {
    takes: 'pi_…',
    does: (stub, payment = '') => `${stub.dispute(payment).id} takes the payment back`,
  },
  win: {
    takes: 'du_…',
    does: (stub, dispute = '') => {
      stub.closeDispute(dispute, 'won')
      return `${dispute} is won`
    },
  },
  lose: {
    takes: 'du_…',
    does: (stub, dispute = '') => {
      stub.closeDispute(dispute, 'lost')
      return `${dispute} is lost`
    },
  },
  report: {
    takes: 'FILE',
    does: async (stub, file = 'balance.csv') => {
      await writeFile(file, reportText(balanceReport(stub.store)))
      return `${file} has the balance report`
    },
  },
}

export const COMMANDS = Object.entries(commands).map(([name, { takes }]) => `${name} ${takes}`)

/** Does what a line says, and tells the outcome. */
export const obey = async (stub: StripeStub, line: string): Promise<string> => {
  const [name = '', ...args] = line.trim().split(/\s+/)
  const command = commands[name]
  if (!command) return `Type one of: ${COMMANDS.join('; ')}`
  try {
    return await command.does(stub, ...args)
  } catch (error) {
    return (error as Error).message
  }
}
