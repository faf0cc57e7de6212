import type { ModelFamily } from '../../../schemas/api/model.ts'
import type { OutputType } from '../../../schemas/catalog.ts'
import { FamilyPrice } from '../parts/model-list.tsx'
import { Shell } from '../shell.tsx'
import { FamilyPicture, sampleFor } from './family-picture.tsx'

export interface ModelsProps {
  families: readonly ModelFamily[]
  /** What the person searches for. */
  query: string
  /** What the families shown make; undefined for all. */
  kind: OutputType | undefined
  /** The model that is chosen now. */
  model: string | undefined
  /** The run whose result is to be the input. */
  input: string | undefined
}

const MODELS = '/console/playground/models'

/** The families as cards to choose from. */
export const ModelsPage = (props: ModelsProps) => (
  <Shell title="Choose a model">
    <div class="page stack">
      <form
        {...{ class: 'row', action: MODELS, role: 'search', 'hx-get': MODELS, 'hx-target': '#families' }}
        {...{ 'hx-trigger': 'input delay:150ms, submit', 'hx-sync': 'this:replace' }}
      >
        {props.input !== undefined && <input type="hidden" name="input" value={props.input} />}
        {props.kind !== undefined && <input type="hidden" name="kind" value={props.kind} />}
        <input
          {...{ type: 'search', name: 'q', value: props.query, 'aria-label': 'Search models', autofocus: true }}
          {...{ placeholder: 'A name, or what it does', autocomplete: 'off' }}
        />
        <noscript>
          <button type="submit">Search</button>
        </noscript>
      </form>
      {props.input !== undefined && <p class="muted">These models can use the result as their input.</p>}
      <div id="families" class="stack" aria-live="polite">
        <FamilyCards {...props} />
      </div>
    </div>
  </Shell>
)

const GROUPS: readonly { outputType: OutputType; title: string }[] = [
  { outputType: 'image', title: 'Images' },
  { outputType: 'video', title: 'Videos' },
  { outputType: 'audio', title: 'Sound' },
  { outputType: 'text', title: 'Text' },
]

/** The kinds, and the cards, grouped by what the families make. */
export const FamilyCards = (props: ModelsProps) => {
  const { families, model, input, query, kind } = props
  const groups = GROUPS.filter(({ outputType }) => kind === undefined || outputType === kind)
    .map(group => ({ ...group, shown: families.filter(({ output_type }) => output_type === group.outputType) }))
    .filter(({ shown }) => shown.length > 0)
  return (
    <>
      <Kinds {...props} />
      {groups.length === 0 && (
        <p class="empty">
          {query === '' ? 'There is no such model.' : `No model matches “${query}”.`}{' '}
          <a href={modelsHref({ model, input })}>Show all models</a>
        </p>
      )}
      {groups.map(({ outputType, title, shown }) => (
        <section key={outputType} aria-labelledby={`group-${outputType}`}>
          <h2 id={`group-${outputType}`}>
            {title} <span class="faint small">{shown.length}</span>
          </h2>
          <ul class="families">
            {shown.map(family => (
              <li key={family.id}>
                <a
                  {...{ class: 'family', href: hrefOf(family.id, input), 'data-item': true }}
                  {...(family.id === model && { 'aria-current': 'true' })}
                >
                  <FamilyPicture outputType={outputType} picture={sampleFor(family)} />
                  <span class="grow">
                    <strong>{family.name}</strong>
                    <span class="small muted">{family.endpoints[0]?.description}</span>
                    <span class="small faint">
                      <FamilyPrice family={family} />
                      {family.endpoints.every(({ available }) => !available) && ' · not available now'}
                    </span>
                  </span>
                </a>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  )
}

const Kinds = ({ kind, query, model, input }: ModelsProps) => (
  <nav class="segments kinds" aria-label="Kinds of models">
    {[{ outputType: undefined, title: 'All' }, ...GROUPS].map(({ outputType, title }) => (
      <a
        key={title}
        href={modelsHref({ kind: outputType, q: query, model, input })}
        {...(outputType === kind && { 'aria-current': 'true' as const })}
      >
        {title}
      </a>
    ))}
  </nav>
)

const modelsHref = (query: Readonly<Record<string, string | undefined>>) => {
  const given = Object.entries(query).filter((each): each is [string, string] => Boolean(each[1]))
  return given.length === 0 ? MODELS : `${MODELS}?${new URLSearchParams(given)}`
}

const hrefOf = (model: string, input: string | undefined) =>
  `/console/playground?model=${model}${input === undefined ? '' : `&input=${input}`}`
