import { CREDITS_PATH } from '../../services/purchases/pages.ts'
import type { SpokenLine } from '../../transports/statement/lines.ts'
import { Icon } from '../parts/icon.tsx'
import { alignerOf } from '../parts/numbers.tsx'
import { OwnerOnly, Placed } from '../parts/own.tsx'
import { credits } from '../parts/text.ts'
import { refundReasonOf } from '../runs/run-words.ts'
import { addressOf, type CreditsView, RANGES, swaps } from './range.ts'

export interface StatementCardProps {
  view: CreditsView
  lines: readonly SpokenLine[]
  /** The views with older and newer lines. */
  older?: CreditsView | undefined
  newer?: CreditsView | undefined
  /** The times of the first line and of the end, for files with exactly these lines. */
  period: { from: string; to: string }
}

/** The lines of the ledger with the balance after each, newest first. */
export const StatementCard = ({ view, lines, older, newer, period }: StatementCardProps) => (
  <section class="card" id="statement" aria-labelledby="statement-title">
    <div class="head">
      <h2 id="statement-title">Statement</h2>
      <OwnerOnly>
        <nav class="row" aria-label="Download the statement">
          <span class="small faint hide-small">All {RANGES[view.range].text}</span>
          {FORMATS.map(([format, name]) => (
            <a
              key={format}
              class={format === 'pdf' ? 'button' : 'button quiet'}
              href={`${CREDITS_PATH}/statement.${format}?${new URLSearchParams(period)}`}
              download
            >
              {format === 'pdf' && <Icon name="download" />}
              {name}
            </a>
          ))}
        </nav>
      </OwnerOnly>
    </div>
    {lines.length === 0 ? (
      <p class="pad muted">No credits moved in these {RANGES[view.range].text}.</p>
    ) : (
      <section class="scroll" tabindex={0} aria-label="Lines of the statement">
        <Lines lines={lines} />
      </section>
    )}
    {(older || newer) && (
      <nav class="row between pad" aria-label="Pages of the statement">
        {newer ? (
          <a class="button" {...swaps('statement', addressOf(newer))}>
            Newer lines
          </a>
        ) : (
          <span />
        )}
        {older && (
          <a class="button" {...swaps('statement', addressOf(older))}>
            Older lines
          </a>
        )}
      </nav>
    )}
  </section>
)

const FORMATS = [
  ['csv', 'CSV'],
  ['hledger', 'hledger'],
  ['pdf', 'PDF'],
] as const

const Lines = ({ lines }: { lines: readonly SpokenLine[] }) => {
  const changes = alignerOf(lines.map(({ changeMicros }) => changeMicros))
  const balances = alignerOf(lines.map(({ balanceMicros }) => balanceMicros))
  return (
    <table class="statement fold">
      <thead>
        <tr>
          <th scope="col" class="hide-small">
            Time (UTC)
          </th>
          <th scope="col">What</th>
          <th scope="col" class="hide-small">
            Key
          </th>
          <th scope="col" class="hide-small">
            Label
          </th>
          <th scope="col" class="num">
            Credits
          </th>
          <th scope="col" class="num">
            Balance
          </th>
        </tr>
      </thead>
      <tbody>
        {lines.map(line => (
          <Line
            key={line.revision}
            line={line}
            change={changes(line.changeMicros)}
            balance={balances(line.balanceMicros)}
          />
        ))}
      </tbody>
    </table>
  )
}

interface LineProps {
  line: SpokenLine
  /** The attributes that align the amounts. */
  change: object
  balance: object
}

const Line = ({
  line: { revision, at, kind, what, detail, runId, keyName, label, changeMicros, balanceMicros },
  change,
  balance,
}: LineProps) => (
  <tr data-item tabindex={-1} data-revision={revision}>
    <td class="hide-small muted when">
      <time datetime={at}>{timeText(at)}</time>
    </td>
    <td>
      {runId === undefined ? (
        <span>{what}</span>
      ) : (
        <Placed>
          {placed => (
            <a class="plain" href={placed(`/console/runs/${runId}`)}>
              {what}
            </a>
          )}
        </Placed>
      )}
      {detail !== '' && <bdi class="detail small faint">{refundReasonOf(detail)}</bdi>}
      <span class="only-small small faint">{timeText(at)}</span>
    </td>
    <td class="hide-small muted cut" title={keyName}>
      <bdi>{keyName}</bdi>
    </td>
    <td class="hide-small muted cut" title={label}>
      <bdi>{label}</bdi>
    </td>
    <td class={changeMicros > 0 ? 'num plus' : 'num'} data-kind={kind} {...change}>
      {changeMicros > 0 ? '+' : ''}
      {credits(changeMicros)}
    </td>
    <td class="num" {...balance}>
      {credits(balanceMicros)}
    </td>
  </tr>
)

const timeText = (at: string): string => `${at.slice(0, 10)} ${at.slice(11, 19)}`
