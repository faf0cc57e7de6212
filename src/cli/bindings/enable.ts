import { Command } from 'commander'
import { operatorOf } from '../operator.ts'
import { printOne } from '../print.ts'
import { unwrap } from '../refusals.ts'
import { withCore } from '../with-core.ts'

export const enableBinding = (): Command =>
  switchBinding('enable', 'lets a binding of an endpoint have jobs again, and ends the waits of its model', true)

export const disableBinding = (): Command =>
  switchBinding('disable', 'gives a binding of an endpoint no more jobs, in every process within a second', false)

const switchBinding = (name: string, description: string, enabled: boolean): Command =>
  new Command(name)
    .argument('<endpoint>', 'such as nano-banana-2-t2i; "tollgate bindings list" shows all')
    .argument('<binding>', 'PROVIDER/MODEL, as "tollgate bindings list" shows it')
    .description(description)
    .option('--json', 'print JSON')
    .action(async (endpoint, binding, options, command) => {
      const caller = operatorOf(command)
      await withCore(async ({ services }) => {
        const { isChange } = unwrap(await services.routing.setBinding(caller, endpoint, binding, enabled))
        printOne({ endpoint, binding, enabled, changed: isChange }, options)
      })
    })
