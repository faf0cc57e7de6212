import t from 'tap'
import { sandbox } from '../support/client.ts'
import { needsJsonschema, runPython } from '../support/python.ts'
import { openAccount, startService } from '../support/service.ts'

interface Called {
  tools: string[]
  // biome-ignore lint/suspicious/noExplicitAny: the test asserts on its contents.
  results: Record<string, any>
}

const label = 'می\u200cخواهم 👩\u200d💻'

t.test('a client that validates with Python uses every tool', needsJsonschema(), async t => {
  const service = await startService(t)
  const customer = await openAccount(service, { tester: true })
  const { body: slow } = await customer.run(sandbox({ delay_ms: 60_000 }), { Prefer: 'respond-async' })
  const calls = [
    ['list_models', {}],
    ['list_models', { brief: true, kind: 't2i', mode: 'sync' }],
    ['quote_run', { ...sandbox(), label }],
    ['run_model', { ...sandbox(), label, idempotency_key: 'k', metadata: { order: 17 } }],
    ['get_run', { run_id: 'run_model' }],
    ['list_runs', { label, limit: 5, status: 'completed', model: 'sandbox' }],
    ['cancel_run', { run_id: slow.run_id }],
    ['explain_charge', { run_id: 'run_model' }],
    ['get_balance', {}],
    ['get_statement', { from: '2026-01-01', kind: 'debit' }],
    ['get_usage', { group_by: 'day,model,key,label' }],
    ['create_upload', { filename: 'می\u200cخواهم.png', mime_type: 'image/png', folder_path: 'photos/2026' }],
  ]
  const { url, apiKey } = customer
  const { tools, results } = await runPython<Called>('test/mcp/client.py', {
    ...{ url: url.replace('//localhost', '//127.0.0.1'), apiKey, revision: '2025-11-25', calls },
  })
  t.same(Object.keys(results).sort(), tools.toSorted(), 'every tool')
  t.match(results['run_model'], { status: 'completed', label })
  t.match(results['list_runs'].data, [{ run_id: results['run_model'].run_id, label }])
  t.match(results['cancel_run'], { status: 'failed', error: { code: 'cancelled' } })
  t.ok(results['get_usage'].data.some((group: { label: string | null }) => group.label === label))
})
