/**
 * A fault to plant: `from` becomes `to` in a file of `src`. A world finds it within a number of seeds, or, where no
 * world reaches the code, the test that is named.
 */
export interface PlantedFault {
  what: string
  file: string
  from: string
  to: string
  test?: string
}

/** The text of a file with a fault. Throws unless the file holds what the fault replaces, once. */
export const withFault = (text: string, { file, from, to }: PlantedFault): string => {
  const parts = text.split(from)
  if (parts.length !== 2) throw new Error(`${file} holds this text ${parts.length - 1} times: ${from}`)
  return parts.join(to)
}

/** Faults that a careless change could bring back. `npm run plant` shows that each is found. */
export const plantedFaults: PlantedFault[] = [
  {
    what: 'a refusal is decided on an old state',
    file: 'engine/streams/mailbox.ts',
    from: 'return (await this.#catchUp(before)).revision === before.revision',
    to: 'return before.revision >= -1',
  },
  {
    what: 'events that another process wrote first are not folded in',
    file: 'engine/streams/mailbox.ts',
    from: `      await this.#catchUp(before)
      return false`,
    to: '      return false',
  },
  {
    what: 'an event is recorded as earlier than the one before it',
    file: 'engine/streams/stream.ts',
    from: 'if (!last || now >= last.at) return { at: now }',
    to: 'if (!last || now >= last.at || now < last.at) return { at: now }',
  },
  {
    what: "another process's events pass for the lost ones",
    file: 'engine/streams/stream.ts',
    from: "if (appended && id !== appended.id) return 'conflict'",
    to: 'if (appended && id !== appended.id) return { revision, position }',
  },
  {
    what: 'events are folded into a row twice',
    file: 'engine/views/project.ts',
    from: 'if (row.before === null || event.position <= (row.before?.position ?? BEFORE_FIRST)) continue',
    to: 'if (row.before === null) continue',
  },
  {
    what: 'events are folded into a forged row',
    file: 'engine/views/project.ts',
    from: 'row.before = loaded[index]\n',
    to: 'row.before = loaded[index] ?? undefined\n',
    test: 'test/engine/views/authentic-views.test.ts',
  },
  {
    what: 'any row counts as genuine',
    file: 'engine/views/authentic-views.ts',
    from: 'if (mac === macOf(address, row)) return row as Row',
    to: 'if (mac === macOf(address, row) || mac !== undefined) return row as Row',
  },
  {
    what: 'views are read while they are rebuilt from nothing',
    file: 'engine/views/view-progress.ts',
    from: 'this.#position >= this.#highest && ',
    to: '',
    test: 'test/engine/views/reads.test.ts',
  },
  {
    what: 'reads do not wait for the own writes',
    file: 'engine/views/reads.ts',
    from: 'return position <= this.#progress.position ?',
    to: 'return position <= this.#progress.position + 10 ?',
  },
  {
    what: 'reads do not catch up with the position of another process',
    file: 'services/positions.ts',
    from: '    await accounts.catchUp(accountId, position)\n',
    to: '',
  },
  {
    what: 'a row that is missing in emptied views counts as absent',
    file: 'engine/views/reads.ts',
    from: `    expectWhole(position, highest)
    return rows[0] ?? undefined`,
    to: `    expectWhole(position, position - highest + position)
    return rows[0] ?? undefined`,
    test: 'test/engine/views/reads.test.ts',
  },
  {
    what: 'events are taken in any order',
    file: 'engine/log/check-order.ts',
    from: '  let reached = after\n',
    to: '  if (after > -2) return\n  let reached = after\n',
  },
  {
    what: 'a silent subscription is not noticed',
    file: 'engine/log/follow.ts',
    from: 'if (reached() < headBefore && reached() === reachedBefore)',
    to: 'if (reached() < headBefore && reached() < reachedBefore)',
    test: 'test/engine/log/follow.test.ts',
  },
  {
    what: 'a commit that is answered late sets the position of the views back',
    file: 'engine/views/projector.ts',
    from: '    if (this.#checkpoint !== before) return\n',
    to: '',
    test: 'test/engine/views/projector.test.ts',
  },
  {
    what: 'emptied views are not noticed',
    file: 'engine/views/projector.ts',
    from: 'if (position >= before) return',
    to: 'if (position >= before || position < before) return',
    test: 'test/engine/views/projector.test.ts',
  },
  {
    what: 'a repair leaves rows that should not exist',
    file: 'engine/views/rebuild.ts',
    from: '      yield { address: is.value.address, value: undefined }\n',
    to: '',
    test: 'test/engine/views/rebuild.test.ts',
  },
  {
    what: 'a key may repeat another request',
    file: 'services/runs/runs.ts',
    from: "    if (earlier.requestHash !== requestHash) return refuse('idempotency_mismatch')\n",
    to: '',
  },
  {
    what: 'the balance is older than what the client was shown',
    file: 'services/accounts/account-mailboxes.ts',
    from: 'stateSince(Math.max(this.#clock.monotonicMs() - MAX_AGE_MS, shownAtMs))',
    to: 'stateSince(Math.min(this.#clock.monotonicMs() - MAX_AGE_MS, shownAtMs))',
    test: 'test/services/accounts/account-mailboxes.test.ts',
  },
  {
    what: 'two refunds at once exceed the charge',
    file: 'domain/account/credits.ts',
    from: "  if (refunds !== state.refunds) return refuse('refunds_changed')\n",
    to: '',
  },
  {
    what: 'a repeated grant counts twice',
    file: 'domain/account/credits.ts',
    from: 'const earlier = checkReference(reference, amountMicros, state)\n  if (earlier) return earlier',
    to: 'const earlier = checkReference(reference, amountMicros, state)\n  if (earlier && "refuse" in earlier) return earlier',
  },
  {
    what: 'a revoked key is charged',
    file: 'domain/account/keys.ts',
    from: "if (!key) return refuse('key_revoked')",
    to: 'if (!key) return undefined',
  },
  {
    what: 'a run costs more than the balance',
    file: 'domain/account/runs.ts',
    from: 'if (price > state.balanceMicros)',
    to: 'if (price > 2 * state.balanceMicros)',
  },
  {
    what: 'a failure refunds less than the charge',
    file: 'domain/account/runs.ts',
    from: 'amountMicros: run.chargedMicros,',
    to: 'amountMicros: run.chargedMicros - 1,',
  },
  {
    what: 'the cost of a run is not recorded',
    file: 'domain/account/runs.ts',
    from: '    ...costOf(runId, worked),\n',
    to: '',
    test: 'test/domain/account/runs.test.ts',
  },
  {
    what: 'a unit of which nothing is known costs nothing',
    file: 'domain/routing/list-price.ts',
    from: 'if (millionths === undefined) return undefined',
    to: 'if (millionths === undefined) continue',
    test: 'test/domain/routing/list-price.test.ts',
  },
  {
    what: 'a job that its vendor refused has a cost',
    file: 'services/providers/provider-cost.ts',
    from: '|| MAY_BE_BILLED.includes(outcome.code)',
    to: '|| !MAY_BE_BILLED.includes(outcome.code)',
    test: 'test/services/providers/provider-cost.test.ts',
  },
  {
    what: 'a cost may stand anywhere in the stream of its account',
    file: 'audit/verify/provider-costs.ts',
    from: 'if (!ended?.isRefunded || ended.runId !== runId)',
    to: 'if (ended && ended.runId !== runId)',
    test: 'test/audit/verify/provider-costs.test.ts',
  },
  {
    what: 'a proof shows its customer what a vendor charges',
    file: 'services/seals/proof-parts.ts',
    from: 'dataText === undefined || WITHHELD.has(event.type)',
    to: 'dataText === undefined',
    test: 'test/audit/proofs/withheld.test.ts',
  },
  {
    what: 'a proof may hide the data of any event',
    file: 'audit/proofs/check/event.ts',
    from: "dataText === undefined && found?.['type'] === WITHHELD",
    to: 'dataText === undefined',
    test: 'test/audit/proofs/withheld.test.ts',
  },
  {
    what: 'a refund forgets the key of its debit',
    file: 'domain/account/debit-facts.ts',
    from: '...(keyId && { keyId }),',
    to: '',
  },
  {
    what: 'a completed run stays open',
    file: 'domain/account/evolve.ts',
    from: 'return offsetFailure(endRun(state, event.data.runId))',
    to: 'return state',
  },
  {
    what: 'an account whose runs keep failing is not slowed',
    file: 'domain/account/run-limits.ts',
    from: 'if (excess >= 0)',
    to: 'if (excess >= 1e15)',
    test: 'test/domain/account/run-limits.test.ts',
  },
  {
    what: 'a run that has ended still counts towards the bytes of open runs',
    file: 'domain/account/evolve.ts',
    from: 'openRunBytes: state.openRunBytes - bytes',
    to: 'openRunBytes: state.openRunBytes',
    test: 'test/domain/account/run-limits.test.ts',
  },
  {
    what: 'an attempt of a webhook is recorded twice',
    file: 'domain/account/webhooks.ts',
    from: 'if (!delivery || attempt !== delivery.attempts + 1)',
    to: 'if (!delivery)',
  },
  {
    what: 'an upload is stored while it is deleted',
    file: 'domain/account/uploads.ts',
    from: "if (stage === undefined || stage === 'deleting') return",
    to: 'if (stage === undefined) return',
    test: 'test/domain/account/uploads.test.ts',
  },
  {
    what: 'a job has no deadline',
    file: 'reactors/jobs.ts',
    from: 'if (leftMs <= 0) {',
    to: 'if (leftMs <= -100_000_000) {',
  },
  {
    what: 'a poll asks for a job whose id the views do not show yet',
    file: 'reactors/jobs.ts',
    from: "    if (row?.task === 'watch-run' && row.jobId === undefined) return\n",
    to: '',
    test: 'test/reactors/jobs.test.ts',
  },
  {
    what: 'a slot is not given back',
    file: 'reactors/active-runs.ts',
    from: '        slots.release(runId)\n',
    to: '',
  },
  {
    what: 'the slot of a job that its provider refuses is not given back',
    file: 'reactors/active-runs.ts',
    from: '        slots.release(runId)\n',
    to: "        if (run.mode === 'sync' || this.#jobs.has(runId)) slots.release(runId)\n",
  },
  {
    what: 'the slot of a run that cannot start now is not given back',
    file: 'reactors/active-runs.ts',
    from: '    this.#parts.slots.decline(provider, accountId)\n    this.leases.release(runId)',
    to: '    this.leases.release(runId)',
  },
  {
    what: 'a process submits more runs than it has slots',
    file: 'reactors/slots.ts',
    from: '< size - this.#sum',
    to: '<= size - this.#sum',
  },
  {
    what: 'an account takes all slots',
    file: 'reactors/slots.ts',
    from: '(this.#held.get(accountId) ?? 0) < size - this.#sum',
    to: '0 < size - this.#sum',
  },
  {
    what: 'an account closes a host to the others',
    file: 'reactors/slots.ts',
    from: 'pool.holds(accountId) ? this.#limitOf(name) : this.#each',
    to: 'this.#limitOf(name)',
    test: 'test/reactors/slots.test.ts',
  },
  {
    what: 'the account with the smallest id wins every slot',
    file: 'reactors/due-loop.ts',
    from: '    for (const name of served) this.#yieldTurn(name)\n',
    to: '',
    test: 'test/reactors/due-loop.test.ts',
  },
  {
    what: 'a lease is taken although another process holds it',
    file: 'reactors/leases.ts',
    from: 'const taken = new Set(await this.#ask(ids))',
    to: 'const taken = new Set((await this.#ask(ids), ids))',
  },
  {
    what: 'a lost run without a job is not submitted again',
    file: 'reactors/runs.ts',
    from: '      if (reserved !== undefined) return void activeRuns.submit({ ...row, input, upstream }, reserved)\n',
    to: '',
  },
  {
    what: 'a job that a vendor may have accepted is submitted again',
    file: 'reactors/submission.ts',
    from: 'return client.deduplicates ? broken : inDoubt',
    to: 'return broken',
    test: 'test/reactors/routing.test.ts',
  },
  {
    what: 'a lost job that a vendor may have accepted is submitted again',
    file: 'reactors/runs.ts',
    from: "if (mode === 'sync' || !client?.deduplicates) await activeRuns.end(row, lost, upstream)",
    to: "if (mode === 'sync') await activeRuns.end(row, lost, upstream)",
  },
  {
    what: 'a run whose start is confirmed late is submitted without its lease',
    file: 'reactors/active-runs.ts',
    from: '    if (this.#isLate(run) && !(await this.#mayLease(runId))) return []\n',
    to: '',
    test: 'test/reactors/runs.test.ts',
  },
  {
    what: 'a lost sync run is not ended',
    file: 'reactors/runs.ts',
    from: "if (mode === 'sync' || !client?.deduplicates) await activeRuns.end(row, lost, upstream)",
    to: "if (mode === 'sync' || !client?.deduplicates) activeRuns.has(runId)",
  },
  {
    what: 'the body of a webhook changes with a refund',
    file: 'reactors/webhook-attempt.ts',
    from: 'present.run(atItsEnd(run))',
    to: 'present.run(run)',
  },
  {
    what: 'a refusal of a receiver counts as delivery',
    file: 'reactors/webhook-attempt.ts',
    from: 'status < 300)',
    to: 'status < 600)',
    test: 'test/reactors/webhooks.test.ts',
  },
  {
    what: 'due work is only noticed when it is written',
    file: 'reactors/due-loop.ts',
    from: '      for await (const lanes of this.#allLanes()) {',
    to: '      for (const lanes of [] as Lane<Row>[][]) {',
  },
  {
    what: 'results are never deleted',
    file: 'reactors/objects.ts',
    from: '    for (const key of objectKeys) await objects.delete(key)\n',
    to: '',
  },
  {
    what: 'the index of streams forgets an event',
    file: 'adapters/event-log/lmdb-stream-index.ts',
    from: 'tail.positions.filter(position => position > indexed)',
    to: 'tail.positions.filter(position => position > indexed + 1)',
    test: 'test/adapters/event-log/lmdb.test.ts',
  },
  {
    what: 'a seal counts events that another process has sealed',
    file: 'services/seals/sealer.ts',
    from: ' || events.length < count) return false',
    to: ') return false',
  },
  {
    what: 'the log is read again while a seal is made',
    file: 'reactors/seals.ts',
    from: '    await this.#sealing?.catch(() => undefined)\n    return this.#parts.sealer.restart()',
    to: '    return this.#parts.sealer.restart()',
    test: 'test/reactors/seals.test.ts',
  },
  {
    what: 'a leaf of the tree counts as genuine, whatever its hash',
    file: 'domain/seals/tree-page.ts',
    from: ' && hashOfLeaves(leaves) === top',
    to: '',
    test: 'test/services/seals/sealer.test.ts',
  },
  {
    what: 'a branch of the tree counts as genuine, whatever its hash',
    file: 'domain/seals/tree-page.ts',
    from: 'if (!isGenuine || hexAt',
    to: 'if (hexAt',
    test: 'test/domain/seals/stream-tree.test.ts',
  },
  {
    what: 'Redis commits without comparing the checkpoint',
    file: 'adapters/view-store/redis-scripts.ts',
    from: "if (redis.call('HGET', KEYS[1], 'checkpoint') or '') ~= ARGV[1] then return 0 end\nlocal firstGone",
    to: 'local firstGone',
    test: 'test/adapters/view-store/redis.test.ts',
  },
  {
    what: 'an expired grant accepts a file',
    file: 'adapters/object-store/disk.ts',
    from: 'if (grant.expiresAtMs <= Date.now())',
    to: 'if (grant.expiresAtMs <= 0)',
    test: 'test/adapters/object-store/disk-uploads.test.ts',
  },
  {
    what: 'IPv4 addresses embedded in IPv6 count as public',
    file: 'adapters/outbound/allowed-address.ts',
    from: "!isIsatap(address) && !PRIVATE.has(embeddedIn(address)?.range() ?? '')",
    to: '!isIsatap(address)',
    test: 'test/adapters/outbound/allowed-address.test.ts',
  },
  {
    what: 'appends to one stream overtake each other',
    file: 'adapters/event-log/eventstoredb/append-queue.ts',
    from: 'const appended = before ? before.then(append, append) : append()',
    to: 'const appended = append()',
    test: 'test/adapters/event-log/eventstoredb/append-queue.test.ts',
  },
  {
    what: 'an event that came after a month was closed belongs to that month',
    file: 'audit/statement/bounds.ts',
    from: 'time < at && number <= events',
    to: 'time < at && number >= 0 && events >= 0',
    test: 'test/audit/statement/closed.test.ts',
  },
  {
    what: 'a report of a closed month names the newest seal',
    file: 'audit/statement/statement.ts',
    from: '    if (this.isDone) return\n',
    to: '',
    test: 'test/audit/statement/closed.test.ts',
  },
  {
    what: 'a month is closed with a seal that does not cover what came before',
    file: 'services/periods/find-seal.ts',
    from: 'if (position < after) continue',
    to: 'if (position < 0) continue',
    test: 'test/services/periods/find-seal.test.ts',
  },
  {
    what: 'a month is closed before its end by the clock of the process that seals',
    file: 'services/periods/periods.ts',
    from: 'Date.parse(at) < endMsOf(period)',
    to: 'Date.parse(at) < 0 * endMsOf(period)',
    test: 'test/services/periods/periods.test.ts',
  },
]
