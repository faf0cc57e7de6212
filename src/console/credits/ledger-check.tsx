import { CREDITS_PATH } from '../../services/purchases/pages.ts'
import { PageContext } from '../page-state.ts'
import { Code } from '../parts/code.tsx'
import { Icon } from '../parts/icon.tsx'

/** The proof of all events of the account, for the check and as a file. */
export const PROOF = `${CREDITS_PATH}/proof.json`

/** The events before a seal covers them, for the check. */
export const CHAIN = `${CREDITS_PATH}/chain.json`

/**
 * The check of the account's books in the browser of the person who reads them. `check-ledger.js` does it, and
 * `credits.js` shows it.
 */
export const LedgerCheck = ({ sealMinutes }: { sealMinutes: number }) => (
  <PageContext.Consumer>
    {({ assetUrl }) => (
      <section
        class="card check"
        id="check"
        aria-labelledby="check-title"
        data-worker={assetUrl('check-ledger.js')}
        data-proof={PROOF}
        data-chain={CHAIN}
        data-seal-minutes={sealMinutes}
        data-keys="/v1/ledger/keys"
        data-consistency="/v1/ledger/consistency"
      >
        <Icon name="shield-check" />
        <Icon name="circle-alert" />
        <div class="told" aria-live="polite">
          <h2 id="check-title">The books can be checked</h2>
          <p class="small" id="check-text">
            Your own browser recomputes every price, balance and digest of your account, and compares them with the
            newest seal.
          </p>
          <progress id="check-progress" max="1" value="0" aria-label="Events checked" hidden />
        </div>
        <div class="row">
          <a class="button" id="check-proof" href={PROOF} download hidden>
            <Icon name="download" />
            Proof
          </a>
          <button type="button" class="main" id="check-start" hidden>
            Check my ledger
          </button>
        </div>
        <details class="small">
          <summary>Check it without this page</summary>
          <p class="muted">
            Download{' '}
            <a href={PROOF} download>
              your events with their proof
            </a>
            , the{' '}
            <a href="/v1/ledger/keys" download="keys.json">
              keys of the seals
            </a>
            , and{' '}
            <a href={assetUrl('verify.mjs')} download="verify.mjs">
              a program of one file
            </a>{' '}
            that needs only Node.js. It runs offline, and prints what it found:
          </p>
          <Code id="check-command" label="The command">
            node verify.mjs proof.json --key keys.json
          </Code>
        </details>
      </section>
    )}
  </PageContext.Consumer>
)
