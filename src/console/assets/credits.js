// The check of the ledger on the page of credits. `check-ledger.js` does it.

/** The name of the newest seal that this browser has seen, so that it notices a history that was rewritten. */
const KEPT = 'tollgate-seal'

/** Browsers may refuse to store anything. Then they only notice nothing. */
const stored = {
  get() {
    try {
      return localStorage.getItem(KEPT)
    } catch {
      return null
    }
  },
  /** @param {string} name */
  set(name) {
    try {
      localStorage.setItem(KEPT, name)
    } catch {}
  },
}

/** @param {string} id */
const byId = id => /** @type {HTMLElement} */ (document.getElementById(id))

const section = byId('check')
const [title, text, proof, start] = [byId('check-title'), byId('check-text'), byId('check-proof'), byId('check-start')]
const progress = /** @type {HTMLProgressElement} */ (byId('check-progress'))

/** @param {number} value */
const count = value => value.toLocaleString('en')

/** Microcredits from a number as the page shows it. @param {string | null | undefined} shown */
const microsOf = shown => {
  const number = Number((shown ?? '').trim().replaceAll(',', '').replace('−', '-').replace('+', ''))
  return Math.round(number * 1_000_000)
}

/** The lines of the statement, read from what people see. */
const linesOnPage = () =>
  [...document.querySelectorAll('tr[data-revision]')].map(row => {
    const [change, after] = [...row.querySelectorAll('td.num')].map(cell => microsOf(cell.textContent))
    return { revision: Number(row.getAttribute('data-revision')), change, after }
  })

/**
 * @param {'running' | 'good' | 'bad' | 'open'} state
 * @param {string} heading
 * @param {string} sentence
 */
const show = (state, heading, sentence) => {
  section.dataset['state'] = state
  title.textContent = heading
  text.textContent = sentence
  progress.hidden = state !== 'running'
  proof.hidden = state !== 'good' && state !== 'bad'
  start.toggleAttribute('disabled', state === 'running')
  if (state === 'running') return
  start.textContent = 'Check again'
  start.classList.remove('main')
  byId('status').textContent = heading
}

/** What everything that was checked has in common. */
const RIGHT = 'Every price follows from its price list, the balance is the sum of its lines, and'

/** @param {{ checked: number, openedAt: string, agreed: number }} found */
const showUnsealed = ({ checked, openedAt, agreed }) => {
  const dueMs = Date.parse(openedAt) + Number(section.dataset['sealMinutes']) * 60_000
  const due = new Date(Math.max(dueMs, Date.now())).toISOString()
  show(
    'good',
    `Checked ${count(checked)} events; no seal covers them yet`,
    `${RIGHT} each event is linked to the one before it. ${count(agreed)} of the lines below agree. The next seal is ` +
      `made at about ${due.slice(11, 16)} UTC: check again then, and you get a proof to keep.`,
  )
  proof.hidden = true
}

/** @param {{ checked: number, seal: { number: number, name: string, at: string }, agreed: number, kept: string | null }} found */
const showFound = ({ checked, seal, agreed, kept }) => {
  stored.set(seal.name)
  const time = `${seal.at.slice(0, 10)} ${seal.at.slice(11, 19)} UTC`
  const before =
    kept !== null && kept !== seal.name
      ? ` It continues seal ${Number.parseInt(kept, 10)}, which this browser kept.`
      : ''
  show(
    'good',
    `Checked ${count(checked)} events up to seal ${seal.number} at ${time}`,
    `${RIGHT} nothing is missing or changed. ` + `${count(agreed)} of the lines below are sealed, and agree.${before}`,
  )
}

const run = () => {
  show('running', 'Checking your ledger', 'Getting your events')
  progress.removeAttribute('value')
  const worker = new Worker(section.dataset['worker'] ?? '', { type: 'module' })
  const { proof: proofUrl, chain, keys, consistency } = section.dataset
  worker.addEventListener('message', ({ data }) => {
    if (data.progress) {
      progress.max = data.progress.of
      progress.value = data.progress.checked
      text.textContent = `Checked ${count(data.progress.checked)} of ${count(data.progress.of)} events`
      return
    }
    worker.terminate()
    if (data.found?.seal) showFound(data.found)
    else if (data.found) showUnsealed(data.found)
    else if (data.wrong)
      show(
        'bad',
        'Your ledger does not add up',
        `The check found this: ${data.wrong}. Keep the proof, and ask the operator.`,
      )
    else show('open', 'Your ledger was not checked', data.failed)
  })
  worker.addEventListener('error', () => {
    worker.terminate()
    show(
      'open',
      'Your ledger was not checked',
      'This browser cannot run the check. Check it without this page instead.',
    )
  })
  worker.postMessage({ proof: proofUrl, chain, keys, consistency, lines: linesOnPage(), kept: stored.get() })
}

start.addEventListener('click', run)
start.hidden = false
