import type { Children } from '#jsx/jsx-runtime'
import type { Family } from '../../../schemas/catalog.ts'
import type { FamilyRevision } from '../../services/catalog/catalog.ts'
import type { EndpointPrice } from '../../services/operator/prices.ts'
import { Button, Field, Form, faulty } from '../parts/form.tsx'
import { credits, plural } from '../parts/text.ts'
import { Moment } from '../parts/time.tsx'
import { providerName } from '../runs/run-words.ts'
import { Shell } from '../shell.tsx'
import { TableCard } from './account-page.tsx'
import { CATALOG, Margin } from './catalog-page.tsx'
import { type Change, factorsOf } from './family-words.ts'

/** A revision with what it changed. */
export interface ShownRevision extends FamilyRevision {
  changes: readonly Change[]
  prices: readonly EndpointPrice[]
}

export interface FamilyProps {
  familyId: string
  /** Undefined if the family is withdrawn. */
  family: Family | undefined
  /** The newest first. */
  history: readonly ShownRevision[]
  /** The JSON as it was entered, and its fault. */
  json?: string | undefined
  fault?: string | undefined
  done?: string | undefined
}

/** A family with its history, and the form for its next revision. */
export const FamilyPage = ({ familyId, family, history, json, fault, done }: FamilyProps) => (
  <Frame familyId={familyId} name={family?.name ?? history.find(each => each.family)?.family?.name}>
    {done !== undefined && (
      <p class="done" role="status">
        {done}
      </p>
    )}
    {!family && <p class="note">The family is withdrawn. Publishing it offers it again.</p>}
    <TableCard
      id="prices"
      title="Prices in credits"
      empty="The family has no endpoints."
      head={[
        { name: 'Endpoint' },
        { name: 'Base', isNumber: true },
        { name: 'Factors' },
        { name: 'Usual run', isNumber: true },
        { name: 'Provider cost', isNumber: true },
        { name: 'Margin', isNumber: true },
      ]}
      rows={(history.find(each => each.family)?.prices ?? []).map(price => (
        <tr key={price.endpoint.id}>
          <td>
            {price.endpoint.id} {price.endpoint.status === 'test' && <span class="badge warn plain">test</span>}
          </td>
          <td class="num">
            <span class="when-folded">base </span>
            {credits(price.endpoint.pricing.baseMicros)}
          </td>
          <td class="own-line muted small">
            {factorsOf(price.endpoint.pricing, price.usdPerCreditMicros).map(line => (
              <div key={line}>{line}</div>
            ))}
          </td>
          <td class="num">
            <span class="when-folded">usual run </span>
            {credits(price.usualMicros)}
          </td>
          <td class="num muted">
            <span class="when-folded">cost </span>
            {price.cost ? `${credits(price.cost.micros)} at ${providerName(price.cost.provider)}` : '–'}
          </td>
          <td class="num">
            <Margin prices={[price]} />
          </td>
        </tr>
      ))}
    />
    <details class="card" open={json !== undefined}>
      <summary class="pad">Edit as JSON</summary>
      <div class="pad">
        <Form action={`${CATALOG}/${familyId}`} class="stack">
          <Field
            id="family-json"
            label="The next revision"
            hint="amounts are microcredits; nothing changes before you have seen the differences"
            fault={fault}
          >
            <textarea
              id="family-json"
              name="json"
              class="json"
              spellcheck="false"
              required
              {...faulty('family-json', fault)}
            >
              {json ?? JSON.stringify(family ?? history.find(each => each.family)?.family, null, 2)}
            </textarea>
          </Field>
          <input type="hidden" name="seen" value={history[0]?.revision ?? ''} />
          <div class="row">
            <Button class="main">Review differences</Button>
          </div>
        </Form>
      </div>
    </details>
    <h2>History</h2>
    {history.map(({ type, revision, at, actor, changes, prices }) => (
      <section class="card" key={revision} aria-label={`Revision ${revision}`}>
        <div class="head">
          <h3>
            Revision {revision} · {TYPES[type]}
          </h3>
          <span class="small faint">
            <bdi>{'name' in actor && actor.name !== undefined ? actor.name : `by the ${actor.kind}`}</bdi> ·{' '}
            <Moment at={at} />
          </span>
        </div>
        {prices.length > 0 && (
          <p class="pad muted small">
            A usual run:{' '}
            {prices.map(({ endpoint, usualMicros }) => `${endpoint.id} ${credits(usualMicros)}`).join(' · ')}
          </p>
        )}
        {type === 'FamilyRevised' && <Changes label={`Changes of revision ${revision}`} changes={changes} />}
      </section>
    ))}
  </Frame>
)

const TYPES: Record<FamilyRevision['type'], string> = {
  FamilyPublished: 'published',
  FamilyRevised: 'revised',
  FamilyWithdrawn: 'withdrawn',
}

/** Differences on a page. A new schema differs in thousands of places, and nobody reads them. */
const MAX_SHOWN = 200

const Changes = ({ label, changes }: { label: string; changes: readonly Change[] }) => (
  <section class="scroll" tabindex={0} aria-label={label}>
    <table class="differences">
      <thead>
        <tr>
          <th scope="col">What</th>
          <th scope="col">Before</th>
          <th scope="col">After</th>
        </tr>
      </thead>
      <tbody>
        {changes.slice(0, MAX_SHOWN).map(({ what, from, to, isPlace, isLarge }) => (
          <tr key={what}>
            <td>
              {isPlace ? <code>{what}</code> : what}{' '}
              {isLarge && <span class="badge warn">more than twice or half</span>}
            </td>
            <td>
              {from === null ? <span class="faint">nothing</span> : <Value isCode={isPlace} tag="del" text={from} />}
            </td>
            <td>{to === null ? <span class="faint">nothing</span> : <Value isCode={isPlace} tag="ins" text={to} />}</td>
          </tr>
        ))}
      </tbody>
    </table>
    {changes.length > MAX_SHOWN && <p class="pad faint">and {plural(changes.length - MAX_SHOWN, 'more difference')}</p>}
    {changes.length === 0 && <p class="pad muted">The content is the same; only who keeps it has changed.</p>}
  </section>
)

const Value = ({ tag: Tag, text, isCode }: { tag: 'del' | 'ins'; text: string; isCode: boolean }) => (
  <Tag>{isCode ? <code>{text}</code> : text}</Tag>
)

interface ReviewProps {
  familyId: string
  name: string
  isNew: boolean
  json: string
  seen: string
  /** The number of places in the JSON that differ. */
  places: number
  changes: readonly Change[]
}

/** The differences that a new revision makes, before it is published. */
export const FamilyReviewPage = ({ familyId, name, isNew, json, seen, places, changes }: ReviewProps) => (
  <Frame familyId={familyId} name={name}>
    <section class="card" aria-labelledby="review">
      <div class="head">
        <h2 id="review">{isNew ? `You publish ${name} again` : `You change ${name} in ${plural(places, 'place')}`}</h2>
      </div>
      <Changes label="Differences" changes={changes} />
    </section>
    {changes.some(({ isLarge }) => isLarge) && (
      <p class="note" role="status">
        A price becomes more than twice as high, or less than half. Amounts in the JSON are microcredits: 1 credit is
        1000000.
      </p>
    )}
    <p class="muted">Runs that were accepted keep their prices. New ones have these from the next request on.</p>
    <Form action={`${CATALOG}/${familyId}`} class="row wrap">
      <input type="hidden" name="json" value={json} />
      <input type="hidden" name="seen" value={seen} />
      <Button class="main" name="step" value="do">
        Publish revision
      </Button>
      <Button class="quiet" name="step" value="change">
        Change it
      </Button>
    </Form>
  </Frame>
)

interface FrameProps {
  familyId: string
  name: string | undefined
  children: Children
}

const Frame = ({ familyId, name = familyId, children }: FrameProps) => (
  <Shell
    title={name}
    heading={
      <>
        <a href={CATALOG}>Catalog</a> / <bdi>{name}</bdi>
      </>
    }
  >
    <div class="page stack">
      <p class="muted small">
        <code>{familyId}</code>
      </p>
      {children}
    </div>
  </Shell>
)
