import type { Binding } from '../../../schemas/binding.ts'
import type { Family } from '../../../schemas/catalog.ts'
import { bindingsOf, shipped } from '../../../src/catalog/shipped.ts'
import { visibleTo } from '../../../src/domain/catalog/family.ts'

const sections: [Family['outputType'], string][] = [
  ['image', 'Pictures'],
  ['video', 'Films'],
  ['audio', 'Speech and music'],
  ['text', 'Text'],
]

const introduction = `# Models

The models that ship, and the providers that run them. \`npm run docs:pages\` writes this page from
[src/catalog](../src/catalog).

A run goes to the first provider in its list that is configured, healthy and able to honour the whole input; see
[providers.md](providers.md). Each entry links to the page where the model and its parameters were looked up, on the day
beside it.

- **unconfirmed**: the provider's own description could not be read. The parameters are those that others send. Such a
  provider may refuse a request; the run then fails and is refunded.
- **price list**: what a run costs at the provider is computed from its units and published prices.
- **no price**: the reason why there is no price list. The cost is recorded as unknown then, with the units that the
  provider reports.
- **retires**: the day on which the provider turns the model off, and the model that it recommends instead.
`

/** The page about all models that ship, in Markdown. */
export const modelsPage = (): string => {
  const families = shipped.flatMap(family => visibleTo(family, false) ?? [])
  const tables = sections.map(([type, title]) => {
    const rows = families.filter(({ outputType }) => outputType === type).flatMap(rowsOf)
    return [
      `## ${title}\n`,
      '| model | endpoint | providers, the preferred one first |',
      '| --- | --- | --- |',
      ...rows,
    ].join('\n')
  })
  return `${[introduction, ...tables].join('\n')}\n`
}

const rowsOf = ({ id, name, endpoints, replaces = [] }: Family): string[] =>
  endpoints.map((endpoint, index) => {
    const model = index === 0 ? [`**${name}**`, `\`${id}\``, ...replaces.map(old => `replaces \`${old}\``)] : []
    return `| ${model.join('<br>')} | \`${endpoint.id}\` | ${bindingsOf(endpoint.id).map(entryOf).join('<br>')} |`
  })

const entryOf = ({ provider, model, source, price, unpriced, retiresAt, replacedBy }: Binding): string => {
  const notes = [
    ...(source.unconfirmed ? ['unconfirmed'] : []),
    ...(price ? ['price list'] : []),
    ...(unpriced === undefined ? [] : [`no price: ${unpriced}`]),
    ...(retiresAt === undefined ? [] : [`retires ${retiresAt}`]),
    ...(replacedBy === undefined ? [] : [`then \`${replacedBy}\``]),
  ]
  return [`${provider} [\`${model}\`](${source.at}) ${source.on}`, ...notes].join(', ')
}
