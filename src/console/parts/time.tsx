import { secondText } from '../../domain/days.ts'
import { PageContext } from '../page-state.ts'

/** A moment in a list: how long ago, with the exact time on hover. */
export const Ago = ({ at }: { at: string }) => (
  <PageContext.Consumer>
    {({ nowMs }) => (
      <time datetime={at} title={secondText(at)}>
        {ago(nowMs - Date.parse(at))}
      </time>
    )}
  </PageContext.Consumer>
)

/** A moment ahead: how long until then, with the exact time on hover. */
export const Until = ({ at }: { at: string }) => (
  <PageContext.Consumer>
    {({ nowMs }) => (
      <time datetime={at} title={secondText(at)}>
        {until(Date.parse(at) - nowMs)}
      </time>
    )}
  </PageContext.Consumer>
)

/** A moment on the page of one thing: exact, with its zone. */
export const Moment = ({ at }: { at: string }) => <time datetime={at}>{secondText(at)}</time>

/** A day, with the exact time on hover. */
export const Day = ({ at }: { at: string }) => (
  <time datetime={at} title={secondText(at)}>
    {at.slice(0, 10)}
  </time>
)

const STEPS = [
  ['min', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
] as const

const ago = (ms: number): string => {
  if (ms >= 60_000) return `${rounded(ms)} ago`
  return ms < 5_000 ? 'just now' : `${Math.floor(ms / 1000)} s ago`
}

const until = (ms: number): string => (ms < 60_000 ? 'in a minute' : `in ${rounded(ms)}`)

/** In the largest unit of which there is one. */
const rounded = (ms: number): string => {
  const [unit, unitMs] = STEPS.findLast(([, stepMs]) => ms >= stepMs) ?? STEPS[0]
  return `${Math.floor(ms / unitMs)} ${unit}`
}
