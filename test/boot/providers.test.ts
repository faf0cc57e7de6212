import t from 'tap'
import { webhookUrl } from '../../src/boot/providers.ts'

t.test('providers report to a public HTTPS address', async t => {
  t.equal(webhookUrl('https://tollgate.example', 'fal'), 'https://tollgate.example/callbacks/fal')
  t.equal(webhookUrl('https://93.184.216.34:8443', 'replicate'), 'https://93.184.216.34:8443/callbacks/replicate')
})

t.test('without one, they are not told where to report', async t => {
  const others = ['http://tollgate.example', 'https://localhost', 'https://tollgate', 'https://api.internal']
  const addresses = ['https://127.0.0.1', 'https://192.168.1.7', 'https://[::1]', 'https://[::ffff:10.0.0.1]']
  for (const url of [undefined, ...others, ...addresses]) t.equal(webhookUrl(url, 'fal'), undefined, url ?? 'none')
})
