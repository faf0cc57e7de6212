import { decimal } from '../parts/text.ts'

export interface LimitsProps {
  requestsPerMinute: Pair
  runsInFlight: Pair
}

/** A limit for each key, and one for the account. Infinity means none. */
interface Pair {
  perKey: number
  perAccount: number
}

/** How much the account may do at a time. */
export const Limits = ({ requestsPerMinute, runsInFlight }: LimitsProps) => (
  <section class="card">
    <div class="head">
      <h2 id="limits">Limits</h2>
      <span class="small faint">The operator sets them</span>
    </div>
    <section class="scroll" aria-label="Limits" tabindex={0}>
      <table>
        <thead>
          <tr>
            <th>Limit</th>
            <th class="num">Each key</th>
            <th class="num">The account</th>
          </tr>
        </thead>
        <tbody>
          <Row name="Requests a minute" of={requestsPerMinute} />
          <Row name="Runs in progress" of={runsInFlight} />
        </tbody>
      </table>
    </section>
  </section>
)

const Row = ({ name, of: { perKey, perAccount } }: { name: string; of: Pair }) => (
  <tr>
    <td>{name}</td>
    <td class="num">{show(perKey)}</td>
    <td class="num">{show(perAccount)}</td>
  </tr>
)

const show = (limit: number): string => (Number.isFinite(limit) ? decimal(limit) : 'none')
