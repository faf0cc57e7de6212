import type { Markup, RawHtml } from '#jsx/jsx-runtime'
import { render } from '#render'
import { Tabs } from '../parts/tabs.tsx'
import { type ApiDocument, type Operation, type Response, resolved, type Schemas } from './api-document.ts'
import { DocsFrame, SideLink } from './docs-frame.tsx'
import { Neighbours } from './guide-pages.tsx'
import { renderText } from './markdown.tsx'
import { operationPath, REFERENCE } from './paths.ts'
import { examplesOf } from './sample.ts'
import { Limits, ParameterTable, SchemaDetails } from './schema-table.tsx'
import { typeOf } from './schema-words.ts'
import type { Access } from './scopes.ts'
import { Snippet } from './snippet.tsx'
import { snippetsOf } from './snippets.ts'
import { TryIt } from './try-it.tsx'

/** What the pages of the reference share. */
export interface Reference {
  document: ApiDocument
  operations: readonly Operation[]
  accessOf(operation: Operation): Access
  baseUrl: string
  /** The parts of pages that are the same for all readers. */
  parts: Map<string, RawHtml>
}

/** A list of operations with its name. */
interface Group {
  name: string
  text: string
  operations: readonly Operation[]
}

const groupsOf = ({ document, operations }: Reference): Group[] => {
  const groups = document.tags.map(({ name, description }) => ({
    name,
    text: description,
    operations: operations.filter(({ tag, isWebhook }) => tag === name && !isWebhook),
  }))
  const webhooks = operations.filter(({ isWebhook }) => isWebhook)
  return [...groups, { name: 'Messages to you', text: 'What webhooks deliver.', operations: webhooks }].filter(
    group => group.operations.length > 0,
  )
}

/** All operations by tag. */
export const ReferenceIndexPage = ({ reference }: { reference: Reference }) => (
  <DocsFrame title="API reference" side={<ReferenceSide reference={reference} />}>
    <div class="docs-index">
      <h1>API reference</h1>
      <p class="lead muted">
        All requests go to <code>{reference.baseUrl}</code>, with the header{' '}
        <code>Authorization: Bearer tg_sk_live_…</code>. Programs read the same as an{' '}
        <a href="/v1/openapi.json">OpenAPI document</a> or as <a href="/llms.txt">llms.txt</a>.
      </p>
      {groupsOf(reference).map(({ name, text, operations }) => (
        <section key={name} class="stack tight">
          <h2>{name}</h2>
          <p class="muted">{text}</p>
          <ul class="card operations">
            {operations.map(({ id, method, path, summary, isWebhook }) => (
              <li key={id}>
                <a href={operationPath(id)} data-item>
                  <Method method={isWebhook ? 'SENT' : method} />
                  <code>{path}</code>
                  <span class="muted">{summary}</span>
                </a>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  </DocsFrame>
)

const ReferenceSide = ({ reference }: { reference: Reference }) => (
  <>
    <SideLink href={REFERENCE}>All requests</SideLink>
    {groupsOf(reference).map(({ name, operations }) => (
      <section key={name}>
        <h2>{name}</h2>
        {operations.map(({ id, method, path, summary, isWebhook }) => (
          <SideLink key={id} href={operationPath(id)}>
            <Method method={isWebhook ? 'SENT' : method} />
            {isWebhook ? path : summary}
          </SideLink>
        ))}
      </section>
    ))}
  </>
)

const Method = ({ method }: { method: string }) => (
  <span class={`method ${method.toLowerCase()}`}>{method === 'DELETE' ? 'DEL' : method}</span>
)

/** An operation, with its request and its responses side by side. */
export const OperationPage = ({ reference, operation }: { reference: Reference; operation: Operation }) => {
  const { operations, accessOf, parts, document } = reference
  const { schemas } = document.components
  const { id, method, path, isWebhook, tag, summary, description } = operation
  const access = accessOf(operation)
  const at = operations.indexOf(operation)
  const once = (name: string, make: () => Markup): RawHtml => {
    const key = `${id} ${name}`
    const part = parts.get(key) ?? { __html: render(make()) }
    parts.set(key, part)
    return part
  }
  const neighbour = (of: Operation | undefined) => of && { path: operationPath(of.id), title: of.summary, text: '' }
  return (
    <DocsFrame title={summary} side={<ReferenceSide reference={reference} />}>
      <div class="operation">
        <header class="stack tight">
          <p class="small faint">{tag}</p>
          <h1>{summary}</h1>
          <p class="row wrap">
            <Method method={isWebhook ? 'SENT' : method} />
            <code>{path}</code>
          </p>
          <div class="text muted" dangerouslySetInnerHTML={renderText(description)} />
        </header>
        <div class="halves">
          <section class="stack" aria-labelledby="request">
            <h2 id="request">{isWebhook ? 'Message' : 'Request'}</h2>
            {!isWebhook && (
              <>
                <div dangerouslySetInnerHTML={once('snippets', () => snippets(operation, access, reference))} />
                <TryIt operation={operation} access={access} schemas={schemas} />
              </>
            )}
            <div class="stack" dangerouslySetInnerHTML={once('request', () => request(operation, access, schemas))} />
          </section>
          <section class="stack" aria-labelledby="response">
            <h2 id="response">{isWebhook ? 'Example' : 'Response'}</h2>
            <div class="stack" dangerouslySetInnerHTML={once('response', () => response(operation, schemas))} />
          </section>
        </div>
        <Neighbours previous={neighbour(operations[at - 1])} next={neighbour(operations[at + 1])} />
      </div>
    </DocsFrame>
  )
}

const snippets = (operation: Operation, access: Access, { baseUrl, document }: Reference) => (
  <Tabs
    id="code"
    label="Languages"
    tabs={snippetsOf(operation, access, baseUrl, document.components.schemas).map(({ name, text }, index) => ({
      name,
      content: <Snippet id={`snippet-${index}`} label={name} text={text} />,
    }))}
  />
)

const request = ({ isWebhook, parameters, body }: Operation, access: Access, schemas: Schemas) => (
  <>
    {!isWebhook && <Permission access={access} />}
    {(['path', 'query', 'header'] as const).map(place => {
      const here = parameters.filter(parameter => parameter.in === place)
      return (
        here.length > 0 && (
          <section key={place} class="card">
            <div class="head">
              <h3>{PLACES[place]}</h3>
            </div>
            <ParameterTable parameters={here} schemas={schemas} />
          </section>
        )
      )
    })}
    {Object.entries(body).map(([type, { schema }]) => (
      <section key={type} class="card">
        <div class="head">
          <h3>Body</h3>
          <code class="faint">{type}</code>
        </div>
        <Whole schema={schema} schemas={schemas} />
      </section>
    ))}
  </>
)

const response = ({ isWebhook, body, responses }: Operation, schemas: Schemas) => (
  <>
    {isWebhook ? (
      <Examples id="message" media={body['application/json']} schemas={schemas} />
    ) : (
      <ResponseExamples responses={responses} schemas={schemas} />
    )}
    {responses.filter(isSuccess).map(each => (
      <ResponseCard key={each.status} response={each} schemas={schemas} />
    ))}
    <Errors responses={responses.filter(each => !isSuccess(each))} schemas={schemas} />
  </>
)

const PLACES = { path: 'Path', query: 'Query', header: 'Headers' }

type Answer = Operation['responses'][number]

const isSuccess = ({ status }: Answer) => Number.parseInt(status, 10) < 400

const Permission = ({ access: { needs, scopes, note } }: { access: Access }) => (
  <section class="card pad stack tight">
    <h3>Permission</h3>
    <p>
      {needs === 'nothing' ? 'Anyone may send this request, without a key.' : `The request needs ${needs}.`}{' '}
      {scopes.length > 0 && (
        <>
          A key needs the <a href="/docs/keys#scopes">scope</a>{' '}
          {scopes.map((scope, at) => (
            <>
              {at > 0 && ' or '}
              <code key={scope}>{scope}</code>
            </>
          ))}
          . {note}
        </>
      )}
    </p>
  </section>
)

/** A schema that is not a member of another. */
const Whole = ({ schema, schemas }: { schema: Operation['body'][string]['schema']; schemas: Schemas }) => {
  const whole = resolved(schema, schemas)
  return (
    <>
      {(whole.description !== undefined || !whole.properties) && (
        <div class="pad stack tight">
          {whole.description !== undefined && (
            <div class="text" dangerouslySetInnerHTML={renderText(whole.description)} />
          )}
          {!whole.properties && <p class="small faint">{typeOf(schema, schemas)}</p>}
          {!whole.properties && <Limits schema={whole} schemas={schemas} />}
        </div>
      )}
      <SchemaDetails schema={schema} schemas={schemas} />
    </>
  )
}

const ResponseCard = ({ response, schemas }: { response: Answer; schemas: Schemas }) => (
  <section class="card">
    <div class="head">
      <h3>
        <span class="badge good">{response.status}</span>
      </h3>
      <span class="faint mono small">{Object.keys(response.content ?? {}).join(', ')}</span>
    </div>
    <div class="pad text" dangerouslySetInnerHTML={renderText(response.description)} />
    {distinct(response).map(({ schema }, at) => (
      <Whole key={at} schema={schema} schemas={schemas} />
    ))}
    <HeaderDetails response={response} schemas={schemas} />
  </section>
)

/** The bodies of a response. Most types have the same one. */
const distinct = ({ content = {} }: Response) => [
  ...new Map(Object.values(content).map(media => [JSON.stringify(media.schema), media])).values(),
]

const HeaderDetails = ({ response: { headers = {} }, schemas }: { response: Response; schemas: Schemas }) => {
  const parameters = Object.entries(headers).map(([name, header]) => ({ name, in: 'header' as const, ...header }))
  if (parameters.length === 0) return null
  return (
    <details class="nested edge">
      <summary>Headers</summary>
      {/* Responses always have what requests may leave out. */}
      <ParameterTable parameters={parameters.map(each => ({ ...each, required: false }))} schemas={schemas} />
    </details>
  )
}

/** The errors by status, with an example of each code. */
const Errors = ({ responses, schemas }: { responses: readonly Answer[]; schemas: Schemas }) => (
  <section class="card">
    <div class="head">
      <h3>Errors</h3>
    </div>
    <table class="fields by-status">
      <thead class="visually-hidden">
        <tr>
          <th>Status</th>
          <th>Code and meaning</th>
        </tr>
      </thead>
      <tbody>
        {responses.map(({ status, description, content = {} }) => (
          <tr key={status}>
            <td>
              <span class="badge bad">{status}</span>
            </td>
            <td>
              <div class="text" dangerouslySetInnerHTML={renderText(description)} />
              {Object.values(content).some(({ examples }) => examples) && (
                <details class="nested">
                  <summary>Example</summary>
                  {Object.values(content).flatMap(media =>
                    examplesOf(media, schemas).map(({ name, value }) => (
                      <pre class="code" key={name} tabindex={0}>
                        {pretty(value)}
                      </pre>
                    )),
                  )}
                </details>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
)

const ResponseExamples = ({ responses, schemas }: { responses: readonly Answer[]; schemas: Schemas }) => {
  const shown = responses.filter(isSuccess).flatMap(({ status, content = {} }) =>
    Object.entries(content)
      .slice(0, 1)
      .flatMap(([type, media]) =>
        type === 'application/json' || media.examples
          ? examplesOf(media, schemas).map(({ name, value }) => ({ name: `${status} ${name}`, value }))
          : [],
      ),
  )
  if (shown.length === 0) return <p class="muted">The response has no example: its parts are below.</p>
  return <ExampleTabs id="answer" shown={shown} />
}

const Examples = ({
  id,
  media,
  schemas,
}: {
  id: string
  media: Operation['body'][string] | undefined
  schemas: Schemas
}) => (media ? <ExampleTabs id={id} shown={examplesOf(media, schemas)} /> : null)

const ExampleTabs = ({ id, shown }: { id: string; shown: readonly { name: string; value: unknown }[] }) => (
  <Tabs
    id={id}
    label="Examples"
    tabs={shown.map(({ name, value }, index) => ({
      name,
      content: <Snippet id={`${id}-example-${index}`} label={name} text={pretty(value)} />,
    }))}
  />
)

const pretty = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))

/** A named schema, which the pages of operations lead to. */
export const SchemaPage = ({ reference, name }: { reference: Reference; name: string }) => {
  const { schemas } = reference.document.components
  const schema = { $ref: `#/components/schemas/${name}` }
  return (
    <DocsFrame title={name} side={<ReferenceSide reference={reference} />}>
      <div class="operation stack">
        <p class="small faint">Schema</p>
        <h1>
          <code>{name}</code>
        </h1>
        <section class="card">
          <Whole schema={schema} schemas={schemas} />
        </section>
      </div>
    </DocsFrame>
  )
}
