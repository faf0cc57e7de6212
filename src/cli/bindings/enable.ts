import { Command } from 'commander'
import { operatorOf } from '../operator.ts'
import { printOne } from '../print.ts'
import { unwrap } from '../refusals.ts'
import { withCore } from '../with-core.ts'

export const enableBinding = (): Command =>
  switchBinding('enable', 'send jobs to a binding again, and close the circuit breakers of its model', true)

export const disableBinding = (): Command =>
  switchBinding('disable', 'stop sending jobs to a binding, in every process within a second', false)

const switchBinding = (name: string, description: string, enabled: boolean): Command =>
  new Command(name)
    .argument('<endpoint>', 'endpoint, such as nano-banana-2-t2i; "tollgate bindings list" shows all endpoints')
    .argument('<binding>', 'binding as PROVIDER/MODEL; "tollgate bindings list" shows all bindings')
    .description(description)
    .option('--json', 'print JSON')
    .action(async (endpoint, binding, options, command) => {
      const caller = operatorOf(command)
      await withCore(async ({ services }) => {
        const { isChange } = unwrap(await services.routing.setBinding(caller, endpoint, binding, enabled))
        printOne({ endpoint, binding, enabled, changed: isChange }, options)
      })
    })
