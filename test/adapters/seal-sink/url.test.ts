import t from 'tap'
import { ConfigError } from '../../../src/boot/config.ts'
import { readConfig } from '../../../src/boot/read-config.ts'

const S3 = { OBJECT_STORE_URL: 's3://key:secret@host/bucket' }
const sinks = (SEAL_SINK: string) => readConfig({ ...S3, SEAL_SINK }).seals.sinks

t.test('seals are copied to files, buckets and addresses', t => {
  t.same(readConfig({}).seals.sinks, [])
  t.same(sinks('/var/seals.jsonl'), [{ kind: 'file', path: '/var/seals.jsonl' }])
  t.same(sinks('seals.jsonl, file:///var/a%20b.jsonl'), [
    { kind: 'file', path: 'seals.jsonl' },
    { kind: 'file', path: '/var/a b.jsonl' },
  ])
  t.same(sinks('s3://my-seals'), [{ kind: 's3', bucket: 'my-seals', prefix: '' }])
  t.same(sinks('s3://my-seals/a/b/'), [{ kind: 's3', bucket: 'my-seals', prefix: 'a/b/' }])
  t.same(sinks('https://example.com/hook?x=1,http://127.0.0.1:9/x'), [
    { kind: 'https', url: 'https://example.com/hook?x=1' },
    { kind: 'https', url: 'http://127.0.0.1:9/x' },
  ])
  t.equal(sinks('/a,/a').length, 1)
  t.end()
})

t.test('an invalid sink is refused without showing it', t => {
  for (const sink of [
    'ftp://hush.example.com/x',
    'http://hush.example.com/x',
    'https://user:hush@example.com/x',
    'https://example.com/hush#x',
    'https://',
    'file://hush/x',
    's3://Hush',
    's3://hush:9000/x',
    's3://key@hush/x',
    's3://hush/a//b',
    's3://hush/a%20b',
  ]) {
    const error = t.throws(() => sinks(`/a,${sink}`), ConfigError, sink) as Error
    t.match(error.message, /^SEAL_SINK must .*\. Set it to the places that get a copy of each seal/)
    t.notMatch(error.message, 'hush')
  }
  t.throws(() => readConfig({ SEAL_SINK: 's3://my-seals' }), /requires an S3 server in OBJECT_STORE_URL/)
  t.end()
})
