import type { Children } from '#jsx/jsx-runtime'
import type { Family } from '../../../schemas/catalog.ts'
import type { FamilyRevision } from '../../services/catalog/catalog.ts'
import type { FamilyDifference } from '../../services/catalog/family-diff.ts'
import { Button, Field, Form, faulty } from '../parts/form.tsx'
import { plural } from '../parts/text.ts'
import { Moment } from '../parts/time.tsx'
import { Shell } from '../shell.tsx'
import { CATALOG } from './catalog-page.tsx'

/** A revision with what it changed. */
export interface ShownRevision extends FamilyRevision {
  differences: readonly FamilyDifference[]
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
  <Frame familyId={familyId}>
    {done !== undefined && (
      <p class="done" role="status">
        {done}
      </p>
    )}
    {!family && <p class="note">The family is withdrawn. Publishing it offers it again.</p>}
    <section class="card" aria-labelledby="next">
      <div class="head">
        <h2 id="next">Next revision</h2>
        <span class="small faint">nothing changes before you have seen the differences</span>
      </div>
      <div class="pad">
        <Form action={`${CATALOG}/${familyId}`} class="stack">
          <Field id="family-json" label="The family as JSON" hint="amounts are microcredits" fault={fault}>
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
    </section>
    <h2>History</h2>
    {history.map(({ type, revision, at, actor, differences }) => (
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
        {type === 'FamilyRevised' && (
          <Differences label={`Changes of revision ${revision}`} differences={differences} />
        )}
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

const Differences = ({ label, differences }: { label: string; differences: readonly FamilyDifference[] }) => (
  <section class="scroll" tabindex={0} aria-label={label}>
    <table class="differences">
      <thead>
        <tr>
          <th scope="col">Place</th>
          <th scope="col">Before</th>
          <th scope="col">After</th>
        </tr>
      </thead>
      <tbody>
        {differences.slice(0, MAX_SHOWN).map(({ place, from, to }) => (
          <tr key={place}>
            <td>
              <code>{place}</code>
            </td>
            <td>{from === null ? <span class="faint">nothing</span> : <Value tag="del" text={from} />}</td>
            <td>{to === null ? <span class="faint">nothing</span> : <Value tag="ins" text={to} />}</td>
          </tr>
        ))}
      </tbody>
    </table>
    {differences.length > MAX_SHOWN && (
      <p class="pad faint">and {plural(differences.length - MAX_SHOWN, 'more difference')}</p>
    )}
    {differences.length === 0 && <p class="pad muted">The content is the same; only who keeps it has changed.</p>}
  </section>
)

const Value = ({ tag: Tag, text }: { tag: 'del' | 'ins'; text: string }) => (
  <Tag>
    <code>{text}</code>
  </Tag>
)

interface ReviewProps {
  familyId: string
  isNew: boolean
  json: string
  seen: string
  differences: readonly FamilyDifference[]
}

/** The differences that a new revision makes, before it is published. */
export const FamilyReviewPage = ({ familyId, isNew, json, seen, differences }: ReviewProps) => (
  <Frame familyId={familyId}>
    <section class="card" aria-labelledby="review">
      <div class="head">
        <h2 id="review">
          {isNew ? `You publish ${familyId} again` : `You change ${familyId} in ${plural(differences.length, 'place')}`}
        </h2>
      </div>
      <Differences label="Differences" differences={differences} />
    </section>
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

const Frame = ({ familyId, children }: { familyId: string; children: Children }) => (
  <Shell
    title={familyId}
    heading={
      <>
        <a href={CATALOG}>Catalog</a> / {familyId}
      </>
    }
  >
    <div class="page stack">{children}</div>
  </Shell>
)
