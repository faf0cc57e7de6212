import { Command } from 'commander'
import { disableBinding, enableBinding } from './bindings/enable.ts'
import { listBindings } from './bindings/list.ts'
import { orderBindings } from './bindings/order.ts'

export const bindingsCommand = (): Command =>
  new Command('bindings')
    .description('list, enable, disable and order bindings: the provider models that serve each endpoint')
    .addCommand(listBindings())
    .addCommand(enableBinding())
    .addCommand(disableBinding())
    .addCommand(orderBindings())
