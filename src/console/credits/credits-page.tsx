import { fromMicros } from '../../domain/money.ts'
import { Icon } from '../parts/icon.tsx'
import { Figure } from '../parts/numbers.tsx'
import { credits, plural } from '../parts/text.ts'
import { Day } from '../parts/time.tsx'
import { Shell } from '../shell.tsx'
import { BalanceCard, type BalanceCardProps } from './balance-card.tsx'
import { BuyCard, type BuyCardProps } from './buy-card.tsx'
import { LedgerCheck } from './ledger-check.tsx'
import { PurchasesCard, type PurchasesCardProps } from './purchases-card.tsx'
import { SpendingCard, type SpendingCardProps } from './spending-card.tsx'
import { StatementCard, type StatementCardProps } from './statement-card.tsx'

export interface Figures {
  balanceMicros: number
  heldMicros: number
  holdingRuns: number
  /** Missing while it is unknown. */
  split?: { freeMicros: number; paidMicros: number }
  owedMicros: number
  nextExpiry?: { expiresAt: string; amountMicros: number }
}

interface CreditsProps {
  figures: Figures
  /** Missing if nothing is for sale. */
  sale?: Omit<BuyCardProps, 'owedMicros'>
  /** Missing if nothing was ever bought. */
  purchases?: PurchasesCardProps
  /** Whether the account has had a run. */
  hasRuns: boolean
  sealMinutes: number
  balance: BalanceCardProps
  spending: SpendingCardProps
  statement: StatementCardProps
}

/** The credits of an account: what is left, where they went, and whether the books are right. */
export const CreditsPage = ({ figures, sale, purchases, hasRuns, sealMinutes, ...rest }: CreditsProps) => (
  <Shell title="Credits" scripts={['credits.js']}>
    <div class="page stack credits">
      <FigureRow {...figures} />
      {figures.owedMicros > 0 && <Debt owedMicros={figures.owedMicros} canBuy={sale !== undefined} />}
      {!hasRuns && !isAsked(sale) && <FirstRun balanceMicros={figures.balanceMicros} />}
      {sale && <BuyCard {...sale} owedMicros={figures.owedMicros} />}
      <LedgerCheck sealMinutes={sealMinutes} />
      {purchases && <PurchasesCard {...purchases} />}
      <div id="of-range" class="stack">
        <div class="halves">
          <BalanceCard {...rest.balance} />
          <SpendingCard {...rest.spending} />
        </div>
        <StatementCard {...rest.statement} />
      </div>
    </div>
  </Shell>
)

/** Whether the address names something to buy. */
const isAsked = (sale: CreditsProps['sale']): boolean =>
  sale !== undefined && (sale.chosen !== undefined || sale.entered !== '')

const FigureRow = ({ balanceMicros, heldMicros, holdingRuns, split, nextExpiry }: Figures) => (
  <section class="card figures" aria-label="Your credits">
    <div>
      <span class="muted">Balance</span>
      <strong>
        <Figure micros={balanceMicros} />
      </strong>
      <span class="small faint">
        credits
        {nextExpiry && (
          <>
            ; {credits(nextExpiry.amountMicros)} expire on <Day at={nextExpiry.expiresAt} />
          </>
        )}
      </span>
    </div>
    <div>
      <span class="muted">Bought</span>
      <strong>{split ? <Figure micros={split.paidMicros} /> : '–'}</strong>
      <span class="small faint">{split ? (nextExpiry ? EXPIRING_FIRST : 'used after free ones') : UNKNOWN}</span>
    </div>
    <div>
      <span class="muted">Free</span>
      <strong>{split ? <Figure micros={split.freeMicros} /> : '–'}</strong>
      <span class="small faint">{split ? (nextExpiry ? EXPIRING_FIRST : 'used first') : UNKNOWN}</span>
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

/** Credits that were used, and whose payment was disputed. */
const Debt = ({ owedMicros, canBuy }: { owedMicros: number; canBuy: boolean }) => (
  <section class="note" aria-labelledby="debt-title">
    <h2 id="debt-title">You owe {plural(fromMicros(owedMicros), 'credit')}</h2>
    <p>
      You used these credits, and their payment was disputed. No run starts until they are paid.{' '}
      {canBuy ? 'Your next purchase pays for them first' : 'The next credits that you get pay for them first'}, and you
      can use the rest. If the dispute is a mistake, withdraw it at your bank.
    </p>
  </section>
)

const UNKNOWN = 'unknown since a refund of an old run'

/** Runs use the lots that expire before all others, whether bought or free. */
const EXPIRING_FIRST = 'what expires is used first'

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
