import { Command } from 'commander'
import { nameOf } from '../../domain/routing/choices.ts'
import { operatorOf } from '../operator.ts'
import { OperatorError } from '../operator-error.ts'
import { printOne } from '../print.ts'
import { unwrap } from '../refusals.ts'
import { withCore } from '../with-core.ts'

export const orderBindings = (): Command =>
  new Command('order')
    .argument('<endpoint>', 'endpoint, such as nano-banana-2-t2i; "tollgate bindings list" shows all endpoints')
    .argument('[bindings...]', 'bindings to try first, as PROVIDER/MODEL')
    .description('try these bindings of an endpoint first, in this order, and all others afterwards')
    .option('--shipped', 'restore the default order')
    .option('--json', 'print JSON')
    .action(async (endpoint, names: string[], options, command) => {
      const caller = operatorOf(command)
      if ((names.length === 0) !== Boolean(options.shipped))
        throw new OperatorError('Name the bindings to try first as PROVIDER/MODEL, or give --shipped instead.')
      await withCore(async ({ services }) => {
        const { isChange } = unwrap(await services.routing.orderBindings(caller, endpoint, names))
        const all = unwrap(await services.routing.bindings(caller))
        const order = all.map(({ binding }) => binding).filter(each => each.endpoint === endpoint)
        const bindings = order.map(nameOf)
        printOne({ endpoint, bindings: options.json ? bindings : bindings.join('\n'), changed: isChange }, options)
      })
    })
