import type { NamedBudget } from '../../../schemas/api/budget.ts'
import { decimal } from '../parts/text.ts'
import { Moment } from '../parts/time.tsx'

/** The named budgets of an account, with their use. */
export const BudgetTable = ({ budgets, hasMore }: { budgets: readonly NamedBudget[]; hasMore: boolean }) => (
  <section class="stack" aria-labelledby="budgets">
    <h2 id="budgets">Budgets</h2>
    <p class="muted">
      A run that names one of these budgets spends from it, whichever key asks. Programs set them with{' '}
      <code>POST /v1/budgets</code>.
    </p>
    <div class="card">
      <div class="scroll">
        <table class="fold keys-table">
          <thead>
            <tr>
              <th>Name</th>
              <th class="num">Used credits</th>
              <th>Renews</th>
            </tr>
          </thead>
          <tbody>
            {budgets.map(budget => (
              <tr key={budget.name}>
                <td>
                  <strong dir="auto">{budget.name}</strong>
                </td>
                <td class="num muted">
                  <Use of={budget} />
                </td>
                <td class="muted">
                  <span class="when-folded">renews </span>
                  {budget.renews_at === undefined ? 'never' : <Moment at={budget.renews_at} />}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
    {hasMore && (
      <p class="muted">
        These are the first {budgets.length} by name. <code>GET /v1/budgets</code> lists all.
      </p>
    )}
  </section>
)

/** The used part, as a bar too. */
const Use = ({ of: { name, credits, spent_credits: spent, period } }: { of: NamedBudget }) => (
  <>
    {`${decimal(spent)} of ${decimal(credits)}${period ? ` a ${period}` : ''}`}
    <meter
      min={0}
      max={credits}
      high={credits * 0.8}
      value={Math.min(spent, credits)}
      aria-label={`The budget ${name} that is used`}
    />
  </>
)
