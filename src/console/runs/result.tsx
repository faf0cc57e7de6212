import { Code, CopyButton } from '../parts/code.tsx'
import { Icon } from '../parts/icon.tsx'
import { OwnerLink } from '../parts/own.tsx'
import { Sound } from '../parts/sound.tsx'
import { plural, size } from '../parts/text.ts'
import { Moment } from '../parts/time.tsx'
import { isOpen, type RunFacts, type RunFile } from './run-facts.ts'
import { failureOf, promptOf, providerName, refundOf, statusOf } from './run-words.ts'

/** What a run made, why it failed, or how far it is. */
export const Result = ({ facts }: { facts: RunFacts }) => {
  const { run, files } = facts
  if (isOpen(run)) return <Progress facts={facts} />
  if (run.status === 'failed')
    return (
      <section class={`run-result failure ${statusOf(run).tone}`} aria-label="Result">
        <h2>
          {failureOf(run)} · {refundOf(run)}
        </h2>
        {run.error?.code !== 'cancelled' && <p>{run.error?.message}</p>}
      </section>
    )
  const { text, tool_calls: calls, deleted_at: deletedAt } = run.output ?? {}
  return (
    <section class="stack" aria-label="Result">
      {deletedAt !== undefined && (
        <p class="run-result note">
          The files were deleted at <Moment at={deletedAt} />. Their hashes remain in the output.
        </p>
      )}
      {run.store === false && <p class="run-result note">Nothing of this run was kept but its cost.</p>}
      <Files files={files} alt={promptOf(run.input) ?? `The result of ${facts.modelName}`} />
      {text !== undefined && (
        <section class="card" aria-label="Answer">
          <div class="head">
            <h2>{files.length > 0 ? 'Thoughts' : 'Answer'}</h2>
            <CopyButton of="answer" />
          </div>
          <p class="pad run-answer" id="answer" dir="auto">
            {text}
          </p>
          {run.finish_reason !== undefined && <p class="pad small faint">{CUTS[run.finish_reason]}</p>}
        </section>
      )}
      {calls?.map((call, index) => (
        <section class="card" key={call.id} aria-label={`Call of ${call.function.name}`}>
          <div class="head">
            <h2>
              Calls <code>{call.function.name}</code>
            </h2>
          </div>
          <div class="pad">
            <Code id={`call-${index}`} label={`Arguments of ${call.function.name}`}>
              {call.function.arguments}
            </Code>
          </div>
        </section>
      ))}
    </section>
  )
}

const CUTS: Record<NonNullable<RunFacts['run']['finish_reason']>, string> = {
  length: 'The answer ends at its longest length.',
  cancelled: 'The answer ends where the run was cancelled.',
}

const Files = ({ files, alt }: { files: readonly RunFile[]; alt: string }) => {
  if (files.length === 0) return null
  const pictures = files.filter(({ mimeType }) => mimeType.startsWith('image/'))
  return (
    <div class="stack">
      <div class={pictures.length > 1 ? 'run-result pictures' : 'run-result'}>
        {files.map((file, index) => (
          <Media key={file.url} file={file} alt={pictures.length > 1 ? `${alt} (${index + 1})` : alt} />
        ))}
      </div>
      <div class="row wrap">
        {files.map((file, index) => (
          <a class="button" key={file.url} href={file.url} download="">
            <Icon name="download" />
            <span class={files.length > 1 ? 'visually-hidden' : ''}>Download</span>
            {files.length > 1 && index + 1}
            <span class={files.length > 1 ? 'faint hide-small' : 'faint'}>
              {typeOf(file)}, {size(file.sizeBytes)}
            </span>
          </a>
        ))}
      </div>
    </div>
  )
}

const Media = ({ file: { url, mimeType }, alt }: { file: RunFile; alt: string }) => {
  if (mimeType.startsWith('image/'))
    return (
      <a href={url}>
        <img src={url} alt={alt} />
      </a>
    )
  if (mimeType.startsWith('video/'))
    // biome-ignore lint/a11y/useMediaCaption: models make no captions
    return <video src={url} controls playsinline loop preload="metadata" aria-label={alt} />
  if (mimeType.startsWith('audio/')) return <Sound src={url} label={alt} />
  return null
}

const typeOf = ({ mimeType }: RunFile) =>
  mimeType === 'audio/mpeg' ? 'MP3' : (mimeType.split('/')[1] ?? mimeType).replace(/^x-/, '').toUpperCase()

/** The frame of the result in its proportions, as far as the input tells. */
const Progress = ({ facts: { run, modelName } }: { facts: RunFacts }) => {
  const [width = '16', height = '9'] = /^(\d+):(\d+)$/.exec(String(run.input?.['aspect_ratio'] ?? ''))?.slice(1) ?? []
  return (
    <section class="run-result progress" aria-label="Result" data-follows={run.run_id}>
      <svg class="frame" viewBox={`0 0 ${width} ${height}`} aria-hidden="true" />
      <div class="stack tight">
        <strong>
          {run.status === 'queued'
            ? `Waiting for ${modelName}`
            : `${run.provider === undefined ? modelName : providerName(run.provider)} is working`}
        </strong>
        <progress aria-label="Progress" />
        <span class="small faint">This page updates itself.</span>
        <noscript>
          <OwnerLink href={`/console/runs/${run.run_id}`}>Reload the page</OwnerLink>
        </noscript>
      </div>
    </section>
  )
}

/** A sentence for screen readers, when a run has ended. */
export const endOf = ({ run, files }: RunFacts): string =>
  run.status === 'failed'
    ? `${failureOf(run)}, ${refundOf(run)}`
    : `The run is complete${files.length > 0 ? `, with ${plural(files.length, 'file')}` : ''}.`
