import { Icon } from '../parts/icon.tsx'
import { Figure } from '../parts/numbers.tsx'
import { credits, plural } from '../parts/text.ts'
import { Shell } from '../shell.tsx'
import { BalanceCard, type BalanceCardProps } from './balance-card.tsx'
import { LedgerCheck } from './ledger-check.tsx'
import { SpendingCard, type SpendingCardProps } from './spending-card.tsx'
import { StatementCard, type StatementCardProps } from './statement-card.tsx'

export interface Figures {
  balanceMicros: number
  heldMicros: number
  holdingRuns: number
  /** Missing while it is unknown. */
  split?: { freeMicros: number; paidMicros: number }
}

interface CreditsProps {
  figures: Figures
  /** Whether the account has had a run. */
  hasRuns: boolean
  sealMinutes: number
  balance: BalanceCardProps
  spending: SpendingCardProps
  statement: StatementCardProps
}

/** The credits of an account: what is left, where they went, and whether the books are right. */
export const CreditsPage = ({ figures, hasRuns, sealMinutes, balance, spending, statement }: CreditsProps) => (
  <Shell title="Credits" scripts={['credits.js']}>
    <div class="page stack credits">
      <FigureRow {...figures} />
      {!hasRuns && <FirstRun balanceMicros={figures.balanceMicros} />}
      <LedgerCheck sealMinutes={sealMinutes} />
      <div id="of-range" class="stack">
        <div class="halves">
          <BalanceCard {...balance} />
          <SpendingCard {...spending} />
        </div>
        <StatementCard {...statement} />
      </div>
    </div>
  </Shell>
)

const FigureRow = ({ balanceMicros, heldMicros, holdingRuns, split }: Figures) => (
  <section class="card figures" aria-label="Your credits">
    <div>
      <span class="muted">Balance</span>
      <strong>
        <Figure micros={balanceMicros} />
      </strong>
      <span class="small faint">credits</span>
    </div>
    <div>
      <span class="muted">Bought</span>
      <strong>{split ? <Figure micros={split.paidMicros} /> : '–'}</strong>
      <span class="small faint">{split ? 'used after free ones' : UNKNOWN}</span>
    </div>
    <div>
      <span class="muted">Free</span>
      <strong>{split ? <Figure micros={split.freeMicros} /> : '–'}</strong>
      <span class="small faint">{split ? 'used first' : UNKNOWN}</span>
    </div>
    <div>
      <span class="muted">Held</span>
      <strong>
        <Figure micros={heldMicros} />
      </strong>
      <span class="small faint">
        {holdingRuns === 0 ? 'no run in progress' : `by ${plural(holdingRuns, 'run')} in progress`}
      </span>
    </div>
  </section>
)

const UNKNOWN = 'unknown since a refund of an old run'

const FirstRun = ({ balanceMicros }: { balanceMicros: number }) => (
  <section class="card empty">
    <h2>{balanceMicros > 0 ? `You have ${credits(balanceMicros)} credits to try` : 'You have no credits yet'}</h2>
    <p class="muted">
      Credits pay for runs. Every price is known before a run starts, a failed run costs nothing, and each credit that
      you spend has a receipt below.
    </p>
    <a class="button main" href="/console/playground">
      <Icon name="play" />
      Make your first run
    </a>
  </section>
)
