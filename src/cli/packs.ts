import { Command } from 'commander'
import type { PriceList } from '../../schemas/packs.ts'
import { readPriceList } from '../boot/read-packs.ts'
import { listOf } from '../domain/catalog/packs.ts'
import { jsonDiff } from '../services/catalog/json-diff.ts'
import { customAmountItem, packItem } from '../services/purchases/pack-item.ts'
import { operatorOf } from './operator.ts'
import { OperatorError } from './operator-error.ts'
import { printMany } from './print.ts'
import { addPublishing } from './publishing.ts'
import { unwrap } from './refusals.ts'
import { withCore } from './with-core.ts'

export const packsCommand = (): Command => {
  const command = new Command('packs')

  command
    .command('list')
    .description('list what is for sale: packs and custom amounts')
    .option('--json', 'print JSON, in the form of the items of GET /v1/packs')
    .action(async (options, command) => {
      const caller = operatorOf(command)
      const list = await withCore(async ({ services }) => unwrap(await services.priceList.packs(caller)))
      printMany(options.json ? shown(list) : rows(list), options, 'Nothing is for sale.')
    })

  command
    .command('export')
    .description('print the price list as JSON for PACKS, "diff" and "publish"')
    .action(async (_options, command) => {
      const caller = operatorOf(command)
      const list = await withCore(async ({ services }) => unwrap(await services.priceList.packs(caller)))
      console.log(JSON.stringify(list, null, 2))
    })

  addPublishing(command, {
    description: [
      'publish the price list of a JSON file, which the service keeps when it starts, and show what it changed;',
      'without a file, publish the price list of PACKS',
    ].join(' '),
    read: readFile,
    compare: async ({ services }, caller, list) => {
      const { published, command } = unwrap(await services.priceList.compare(caller, list))
      return command ? differences(published, command) : []
    },
    publish: async ({ services }, caller, list) => {
      const { published } = unwrap(await services.priceList.compare(caller, list))
      const applied = unwrap(await services.priceList.publish(caller, list))
      return applied ? differences(published, applied) : []
    },
  })

  return command
}

const readFile = (path: string): PriceList => {
  const read = readPriceList(path)
  if ('fault' in read) throw new OperatorError(`${read.fault}.`)
  return read.list
}

const shown = ({ packs, customAmount }: PriceList) => [
  ...packs.map(packItem),
  ...(customAmount ? [{ object: 'custom_amount', ...customAmountItem(customAmount) }] : []),
]

const rows = ({ packs, customAmount }: PriceList) => [
  ...packs.map(packItem).map(({ id, name, credits, bonus_credits, amount, currency, valid_days }) => ({
    ...{ pack: id, name, credits, bonus: bonus_credits || null },
    ...{ price: `${amount} ${currency}`, valid_days },
  })),
  ...(customAmount ? [customAmountItem(customAmount)] : []).map(item => ({
    ...{ pack: null, name: null, credits: `${item.min_credits} – ${item.max_credits}`, bonus: null },
    ...{ price: `${item.amount_per_credit} ${item.currency} each`, valid_days: item.valid_days },
  })),
]

/** The places where a price list differs from the published one. Packs are named by their IDs. */
const differences = (
  published: (PriceList & { byHand: boolean }) | undefined,
  after: PriceList & { byHand?: true },
): Record<string, unknown>[] => {
  const places = jsonDiff(byId(listOf(published)), byId(listOf(after))).map(place => ({ ...place }))
  const [before = false, hand = false] = [published?.byHand, after.byHand]
  return before === hand ? places : [...places, { place: 'by hand', from: String(before), to: String(hand) }]
}

const byId = ({ packs, customAmount }: PriceList) => ({
  ...{ order: packs.map(({ id }) => id).join(', '), packs: Object.fromEntries(packs.map(pack => [pack.id, pack])) },
  ...(customAmount && { customAmount }),
})
