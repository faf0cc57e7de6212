import type { Binding } from '../../../schemas/binding.ts'
import type { Family } from '../../../schemas/catalog.ts'
import { bindingsOf, shipped } from '../../../src/catalog/shipped.ts'
import { visibleTo } from '../../../src/domain/catalog/family.ts'

const sections: [Family['outputType'], string][] = [
  ['image', 'Images'],
  ['video', 'Videos'],
  ['audio', 'Speech and music'],
  ['text', 'Text'],
]

const introduction = `# Models

This page lists the shipped models with their providers. \`npm run docs:pages\` writes the page from
[src/catalog](../src/catalog).

[A run goes to](providers.md#which-provider-gets-a-run) the first provider in the list of its endpoint that is on, works,
and supports the whole input. Each provider's model links to the documentation that the binding follows, with the day on
which the two were last compared.

- **unconfirmed**: the provider's own documentation was not available, so the parameters follow other clients. The
  provider may refuse a request; the run then fails with a refund.
- **price list**: Tollgate computes the cost of a run from the provider's units and published prices.
- **no price**: the reason why there is no price list. Tollgate then records the cost as unknown, with the units that
  the provider reports.
- **retires**: the day on which the provider turns the model off, and the model that the provider recommends instead.
`

/** The page about the shipped models, in Markdown. */
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
