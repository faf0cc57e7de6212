import { Command } from 'commander'
import { disableBinding, enableBinding } from './bindings/enable.ts'
import { listBindings } from './bindings/list.ts'
import { orderBindings } from './bindings/order.ts'

export const bindingsCommand = (): Command =>
  new Command('bindings')
    .description('show which models of which providers serve an endpoint, turn them on and off, and order them')
    .addCommand(listBindings())
    .addCommand(enableBinding())
    .addCommand(disableBinding())
    .addCommand(orderBindings())
