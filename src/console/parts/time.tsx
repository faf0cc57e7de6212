import { PageContext } from '../page-state.ts'

/** A moment in a list: how long ago, with the exact time on hover. */
export const Ago = ({ at }: { at: string }) => (
  <PageContext.Consumer>
    {({ nowMs }) => (
      <time datetime={at} title={exact(at)}>
        {ago(nowMs - Date.parse(at))}
      </time>
    )}
  </PageContext.Consumer>
)

/** A moment on the page of one thing: exact, with its zone. */
export const Moment = ({ at }: { at: string }) => <time datetime={at}>{exact(at)}</time>

/** `2026-11-27 14:02:11 UTC`. */
const exact = (at: string) => `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`

const STEPS = [
  ...([['min', 60_000] as const, ['h', 3_600_000] as const] satisfies (readonly [string, number])[]),
  ['d', 86_400_000] as const,
]

const ago = (ms: number): string => {
  const [unit, unitMs] = STEPS.findLast(([, stepMs]) => ms >= stepMs) ?? []
  if (unit === undefined || unitMs === undefined) return ms < 5_000 ? 'just now' : `${Math.floor(ms / 1000)} s ago`
  return `${Math.floor(ms / unitMs)} ${unit} ago`
}
