import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ConfigError } from '../../src/boot/config.ts'
import { readConfig } from '../../src/boot/read-config.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const SECRET = 'aB3/+=%:@?#x'
const s3 = (url: string) => readConfig({ OBJECT_STORE_URL: url, DATA_DIR: '/data' }).objectStore

t.test('objects are stored in a folder by default', async t => {
  t.same(readConfig({ DATA_DIR: '/data' }).objectStore, { kind: 'disk', folder: '/data/objects' })
  t.same(readConfig({ OBJECT_STORE_URL: 'file:/elsewhere' }).objectStore, { kind: 'disk', folder: '/elsewhere' })
})

t.test('one URL configures an S3 server', async t => {
  t.same(s3('s3://key:secret@s3.example.com:9000/tollgate-files?region=eu-central-1&tls=off'), {
    kind: 's3',
    host: 's3.example.com',
    port: 9000,
    tls: false,
    region: 'eu-central-1',
    bucket: 'tollgate-files',
    accessKey: 'key',
    secretKey: 'secret',
    publicUrl: undefined,
    stagingFolder: '/data/arriving',
  })
})

t.test('the S3 URL has defaults for port, TLS and region', async t => {
  t.match(s3('s3://key:secret@s3.example.com/bucket'), { port: undefined, tls: true, region: 'us-east-1' })
  t.match(s3('s3://key:secret@127.0.0.1:443/bucket'), { host: '127.0.0.1', port: 443 })
  t.match(s3('s3://key:secret@[::1]:9000/bucket'), { host: '[::1]', port: 9000 })
})

t.test('any secret can be percent-encoded in the URL', async t => {
  const url = `s3://${encodeURIComponent('K/Y')}:${encodeURIComponent(SECRET)}@localhost/bucket`
  t.match(s3(url), { accessKey: 'K/Y', secretKey: SECRET })
})

t.test('clients can reach an S3 server and its files at public URLs', async t => {
  const { objectStore, cdnUrl } = readConfig({
    OBJECT_STORE_URL: 's3://key:secret@minio:9000/bucket?tls=off',
    OBJECT_STORE_PUBLIC_URL: 'https://s3.example.com',
    CDN_URL: 'https://files.example.com/bucket',
  })
  t.match(objectStore, { host: 'minio', publicUrl: 'https://s3.example.com' })
  t.equal(cdnUrl, 'https://files.example.com/bucket')
  t.equal(readConfig({}).cdnUrl, undefined)
})

t.test('an invalid S3 URL is refused without showing its secret', async t => {
  for (const url of [
    's3://',
    's3://key:hush@host',
    's3://key:hush@host/',
    's3://key:hush@host/Bucket',
    's3://key:hush@host/a/b',
    's3://key:hush@host/ab',
    's3://key@host/bucket',
    's3://:hush@host/bucket',
    's3://key:@host/bucket',
    's3://host/bucket',
    's3://key:hush@host:99999/bucket',
    's3://key:hush@a host/bucket',
    's3://key:hush%@host/bucket',
    's3://key:hush@host/buc..ket',
    's3://key:hush@host/bucket?tls=OFF',
    's3://key:hush@host/bucket?tls=off&regoin=a',
    's3:key:hush@host/bucket',
    'https://key:hush@host/bucket',
    's3://key:hush/x@host/bucket',
  ]) {
    const { message } = t.throws(() => s3(url), { name: 'ConfigError' }, url) as unknown as Error
    t.match(message, /^OBJECT_STORE_URL (must|has) .*s3:\/\/KEY:SECRET@HOST:PORT\/BUCKET/)
    t.notMatch(message, /hush/)
  }
})

t.test('retention is set in days and the grant period in minutes', async t => {
  const [minute, day] = [60_000, 24 * 60 * 60_000]
  t.match(readConfig({}), { uploadGrantMs: 15 * minute, retention: { uploadsMs: 7 * day, outputsMs: 30 * day } })
  const retention = { UPLOAD_GRANT_MINUTES: '0.5', UPLOAD_RETENTION_DAYS: '1', OUTPUT_RETENTION_DAYS: '0.25' }
  t.match(readConfig(retention), { uploadGrantMs: 30_000, retention: { uploadsMs: day, outputsMs: 6 * 60 * minute } })
})

t.test('invalid periods and URLs are refused', async t => {
  for (const [name, value] of [
    ...['0', '-1', '10081', 'soon'].map(value => ['UPLOAD_GRANT_MINUTES', value]),
    ...['10', '-1 GB', '1.5 GB', '10 gb', 'GB', '10 KB'].map(value => ['UPLOAD_QUOTA', value]),
    ...['256', '9 MB', '0 GB', '10 KB'].map(value => ['MAX_MEDIA_MEMORY', value]),
    ...['0', '3651'].map(value => ['UPLOAD_RETENTION_DAYS', value]),
    ...['0', '3651'].map(value => ['OUTPUT_RETENTION_DAYS', value]),
    ...['files.example.com', 'https://files.example.com/', 'https://files.example.com/?a', 'ftp://x'].map(value => [
      'CDN_URL',
      value,
    ]),
    ...['s3.example.com', 'https://s3.example.com/bucket'].map(value => ['OBJECT_STORE_PUBLIC_URL', value]),
  ] as [string, string][]) {
    const { message } = t.throws(
      () => readConfig({ [name]: value }),
      { name: 'ConfigError' },
      value,
    ) as unknown as Error
    t.ok(message.startsWith(`${name} must `) && message.includes(JSON.stringify(value)), message)
  }
})

t.test('the retention of uploads must be at least their grant period', async t => {
  const days = { UPLOAD_RETENTION_DAYS: '0.01' }
  t.throws(() => readConfig(days), ConfigError)
  t.match(readConfig({ ...days, UPLOAD_GRANT_MINUTES: '14.4' }), {
    uploadGrantMs: 864_000,
    retention: { uploadsMs: 864_000 },
  })
})

t.test('a public URL is refused without an S3 server', async t => {
  t.throws(() => readConfig({ OBJECT_STORE_PUBLIC_URL: 'https://files.example.com' }), ConfigError)
})

t.test('one URL configures EventStoreDB', async t => {
  const addressOf = (url: string) =>
    readConfig({ EVENT_STORE_URL: url, MASTER_SECRET: 'a'.repeat(32), SEAL_KEY: 'pem' }).eventStore as unknown
  t.same(addressOf('esdb://ada:s%40crets@one,two:2114/?tls=true&streamPrefix=a.b-&nodePreference=leader'), {
    kind: 'eventstoredb',
    address: {
      seeds: [
        { host: 'one', port: 2113 },
        { host: 'two', port: 2114 },
      ],
      discover: false,
      server: 'one,two:2114',
      streamPrefix: 'a.b-',
      tls: { caFile: undefined, certFile: undefined, keyFile: undefined },
      credentials: { user: 'ada', password: 's@crets' },
      connectionName: undefined,
      keepAlive: { intervalMs: 10_000, timeoutMs: 10_000 },
    },
  })
  t.match(addressOf('esdb+discover://cluster.example'), {
    address: { seeds: [{ host: 'cluster.example', port: 2113 }], discover: true, streamPrefix: '', tls: {} },
  })
  t.match(
    addressOf('esdb://one:1?tls=false&keepAliveInterval=1000&keepAliveTimeout=2000&connectionName=tollgate%201'),
    {
      address: {
        tls: undefined,
        credentials: undefined,
        connectionName: 'tollgate 1',
        keepAlive: { intervalMs: 1000, timeoutMs: 2000 },
      },
    },
  )
})

t.test('an invalid EventStoreDB URL is refused without showing its password', async t => {
  for (const [url, fault] of [
    ['esdb://ada:hush@', /must have the form esdb:/],
    ['esdb://ada:hush@host:port', /must have the form/],
    ['esdb://ada:hu@sh@host', /must have the form/],
    ['esdb://ada:hu/sh@host', /must have the form/],
    ['esdb://hush@host', /must have the form/],
    ['esdb://ada:hush%zz@host', /percent-encoded/],
    ['esdb://ada:hush@host?trustMe=false', /unknown parameter; the known ones are tls, /],
    ['esdb://ada:hush@host?tlsVerifyCert=false', /has tlsVerifyCert, which Tollgate does not use; leave it out/],
    ['esdb://ada:hush@host?maxDiscoverAttempts=3', /has maxDiscoverAttempts, which Tollgate does not use/],
    ['esdb://ada:hush@host?discoveryInterval=3', /has discoveryInterval, which Tollgate does not use/],
    ['esdb://ada:hush@host?gossipTimeout=3', /has gossipTimeout, which Tollgate does not use/],
    ['esdb://ada:hush@host:99999', /must have ports from 1 to 65535/],
    ['esdb://ada:hush@host:0', /must have ports from 1 to 65535/],
    ['esdb://ada:hush@host?connectionName=%C3%BC', /has an invalid value for connectionName/],
    ['esdb://ada:hush@host?tlsCAFile=package.json', /must have a PEM certificate as tlsCAFile/],
    [
      'esdb://ada:hush@host?userCertFile=package.json&userKeyFile=package.json',
      /must have a PEM certificate and its key/,
    ],
    ['esdb+discover://ada:hush@one,two', /must have a single name after esdb\+discover/],
    ['esdb://ada:hush@host?constructor=a', /unknown parameter/],
    ['esdb://ada:1?hush@host', /unknown parameter/],
    ['esdb://ada:hush@host?tls=maybe', /has an invalid value for tls/],
    ['esdb://ada:hush@host?keepAliveInterval=soon', /has an invalid value for keepAliveInterval/],
    ['esdb://ada:hush@host?keepAliveTimeout=0', /has an invalid value for keepAliveTimeout/],
    ['esdb://ada:hush@host?nodePreference=follower', /has an invalid value for nodePreference/],
    ['esdb://ada:hush@host?connectionName=', /has an invalid value for connectionName/],
    ['esdb://ada:hush@host?tlsCAFile=/no/such/file', /has an unreadable tlsCAFile/],
    ['esdb://ada:hush@host?tlsCAFile=/', /has an unreadable tlsCAFile/],
    ['esdb://ada:hush@host?userKeyFile=/dev/null', /userCertFile and userKeyFile together/],
    ['esdb://ada:hush@host?streamPrefix=a%2Bb', /must have a streamPrefix of letters/],
  ] as const)
    expectFault(t, 'EVENT_STORE_URL', url, fault)
})

t.test('one URL configures Redis', async t => {
  const addressOf = (url: string) => {
    const { viewStore } = readConfig({ VIEW_STORE_URL: url })
    return 'address' in viewStore && viewStore.address
  }
  t.same(addressOf('redis://views.example.com'), { host: 'views.example.com', port: 6379, db: 0, tls: false })
  t.same(addressOf(`rediss://ada%40a:${encodeURIComponent(SECRET)}@views.example.com:6380/12`), {
    ...{ host: 'views.example.com', port: 6380, db: 12, tls: true },
    ...{ username: 'ada@a', password: SECRET },
  })
  t.same(addressOf('redis://:only@[::1]:7000/'), { host: '::1', port: 7000, db: 0, password: 'only', tls: false })
})

t.test('an invalid Redis URL is refused without showing its password', async t => {
  for (const [url, fault] of [
    ['redis://u:hu/sh@h:x', /must be a valid URL/],
    ['redis://u:hush@h:99999', /must be a valid URL/],
    ['redis://u:hush@', /must be a valid URL/],
    ['redis:///1', /must have a host/],
    ['redis://u:hush%zz@h', /percent-encoded/],
    ['redis://%zz:hush@h', /percent-encoded/],
    ['redis://u:hush@h/abc', /must give the database as a number/],
    ['redis://u:hush@h/-1', /must give the database as a number/],
    ['redis://u:hush@h/1/2', /must give the database as a number/],
    ['redis://u:1/hush@h', /must give the database as a number/],
    ['redis://u:1?hush@h', /must end with the database/],
    ['redis://u:1#hush@h', /must end with the database/],
  ] as const)
    expectFault(t, 'VIEW_STORE_URL', url, fault)
})

t.test('an unknown kind of store is refused without showing its secret', async t => {
  for (const name of ['EVENT_STORE_URL', 'VIEW_STORE_URL', 'OBJECT_STORE_URL']) {
    const { message } = t.throws(() => readConfig({ [name]: 'ftp://key:hush@host' }), ConfigError) as unknown as Error
    t.match(message, name)
    t.notMatch(message, /hush/)
  }
})

t.test('processes on several machines share stores and the master secret, and each has its roles', async t => {
  const urls = { EVENT_STORE_URL: 'esdb://localhost:2113', VIEW_STORE_URL: 'rediss://user:hush@localhost/1' }
  t.throws(() => readConfig(urls), { message: /^MASTER_SECRET must be set/ })
  const shared = { ...urls, MASTER_SECRET: 'a'.repeat(32) }
  const { eventStore, viewStore, roles } = readConfig({ ...shared, ROLES: 'api,reactors' })
  t.match(eventStore, { kind: 'eventstoredb', address: { server: 'localhost:2113' } })
  t.match(viewStore, { kind: 'redis', address: { host: 'localhost', db: 1 }, keySpace: 'tollgate' })
  t.same([...roles], ['api', 'reactors'])
  t.same([...readConfig({}).roles], ['api', 'projector', 'reactors', 'sealer'])
  t.throws(() => readConfig({ ROLES: 'api,reader' }), ConfigError)
  t.throws(() => readConfig(shared), { message: /^SEAL_KEY_FILE must name a file with the same key for every process/ })
  t.same(readConfig({ ...shared, SEAL_KEY_FILE: 'key.pem' }).seals.key, { kind: 'file', path: 'key.pem' })
  t.same(readConfig({ ...shared, SEAL_KEY: 'pem' }).seals.key, { kind: 'given', pem: 'pem' })
  t.equal(readConfig(shared, { isCommand: true }).eventStore.kind, 'eventstoredb', 'commands need no seal key')
})

t.test('allowed sites are given as browser origins', async t => {
  t.same(readConfig({}).allowedOrigins, [])
  const given = 'https://App.Example.com:443,http://localhost:6274,https://[::1]:8443'
  t.same(readConfig({ ALLOWED_ORIGINS: given }).allowedOrigins, [
    'https://app.example.com',
    'http://localhost:6274',
    'https://[::1]:8443',
  ])
  for (const value of [
    ...['*', 'null', 'app.example.com', 'https://*.example.com', 'https://app.example.com/', 'https://a.example.com,'],
    ...['https://a.example.com, https://b.example.com', 'https://me@example.com', 'https://a:99999', 'ftp://a'],
  ])
    t.throws(() => readConfig({ ALLOWED_ORIGINS: value }), { name: 'ConfigError', message: /^ALLOWED_ORIGINS must / })
})

t.test('PUBLIC_URL must be an origin without special characters', async t => {
  for (const value of ['https://api.example.com', 'http://127.0.0.1:8080', 'http://[::1]:8080', 'http://my_host'])
    t.equal(readConfig({ PUBLIC_URL: value }).publicUrl, value)
  for (const value of [
    ...['https://api.example.com/', 'https://api.example.com/v1', 'api.example.com', 'ftp://a', 'https://a:99999'],
    ...[
      'https://[::1',
      'http://%zz',
      'http://<script>',
      'https://me:pw@a.example',
      'https://a)',
      'https://a`b',
      'http://',
    ],
    ...['https://a.example.', 'https://a"b', 'https://a\\b', 'http://[:::]'],
  ])
    t.throws(() => readConfig({ PUBLIC_URL: value }), { name: 'ConfigError', message: /^PUBLIC_URL must / }, value)
})

t.test('an invalid switch is refused with its allowed values', async t => {
  t.throws(() => readConfig({ PUBLIC_DESCRIPTORS: 'yes' }), {
    message: /^PUBLIC_DESCRIPTORS must be true or false, but is /,
  })
})

/** Asserts that the message names the variable and the fault, and shows no part of the secret. */
const expectFault = (t: Test, name: string, url: string, fault: RegExp) => {
  const { message } = t.throws(() => readConfig({ [name]: url }), ConfigError, url) as unknown as Error
  t.match(message, new RegExp(`^${name} (must|has) .*USER:PASSWORD@HOST`))
  t.match(message, fault, url)
  t.notMatch(message, /hu|sh@/, url)
}

t.test('MAX_MEDIA_MEMORY is a number of binary units', async t => {
  for (const [given, bytes] of [
    [undefined, 256 * 2 ** 20],
    ['10MB', 10 * 2 ** 20],
    ['2 GB', 2 * 2 ** 30],
  ] as const)
    t.equal(readConfig({ MAX_MEDIA_MEMORY: given }).mediaMemoryBytes, bytes)
})

t.test('UPLOAD_QUOTA is a number of binary units', async t => {
  for (const [given, bytes] of [
    ['', 20 * 2 ** 30],
    ['500 MB', 500 * 2 ** 20],
    ['7GB', 7 * 2 ** 30],
    ['2 TB', 2 * 2 ** 40],
  ] as const)
    t.equal(readConfig({ UPLOAD_QUOTA: given }).uploadQuotaBytes, bytes)
})

t.test('a fault is told in sentences that say how to set the variable', async t => {
  for (const [name, value, message] of [
    [
      'UPLOAD_QUOTA',
      'lots',
      'UPLOAD_QUOTA must be in the right format, but is "lots". Set it to the space that the uploads of an account may ' +
        'take together, in MB, GB or TB, such as 500 MB or 10 GB.',
    ],
    ['PORT', 'abc', 'PORT must be an integer, but is "abc". Set it to the port to listen on; 0 selects any free port.'],
    [
      'ALLOW_PRIVATE_WEBHOOKS',
      'yes',
      'ALLOW_PRIVATE_WEBHOOKS must be true or false, but is "yes". ' +
        'It allows webhooks and image URLs in private networks; for development.',
    ],
    [
      'TRUSTED_PROXIES',
      'foo',
      'TRUSTED_PROXIES must hold addresses and CIDR ranges, but is "foo". Set it to the addresses of your proxies, such ' +
        'as 10.0.0.0/8,192.0.2.7: the service does not limit their connections, and reads the address of the client ' +
        'from their X-Forwarded-For.',
    ],
  ] as const)
    t.throws(() => readConfig({ [name]: value }), { name: 'ConfigError', message })
})

t.test('mail goes to a server only with a sender, and its password is not shown', async t => {
  t.match(readConfig({ DATA_DIR: '/data' }).mail, { kind: 'outbox', folder: '/data/outbox' })
  const url = 'smtp://ada:hush@mail.example.com:587'
  const from = 'Tollgate <accounts@example.com>'
  t.same(readConfig({ SMTP_URL: url, MAIL_FROM: from }).mail, { kind: 'smtp', url, from })
  t.throws(() => readConfig({ SMTP_URL: url }), { message: /^SMTP_URL requires MAIL_FROM\. / })
  for (const wrong of ['http://ada:hush@mail.example.com', 'smtp://ada:hush@[mail']) {
    const read = () => readConfig({ SMTP_URL: wrong, MAIL_FROM: from })
    t.throws(read, { name: 'ConfigError', message: /^SMTP_URL must/ })
    t.throws(read, { message: /^(?!.*hush)/s })
  }
  t.throws(() => readConfig({ MAIL_FROM: 'Tollgate' }), ConfigError)
})

t.test('the Telegram login needs an ID and a secret', async t => {
  t.equal(readConfig({}).telegram, undefined)
  const both = { TELEGRAM_CLIENT_ID: '1', TELEGRAM_CLIENT_SECRET: 'hush' }
  t.same(readConfig(both).telegram, { clientId: '1', clientSecret: 'hush', issuer: undefined })
  t.throws(() => readConfig({ TELEGRAM_CLIENT_ID: '1' }), { message: /^TELEGRAM_CLIENT_SECRET is required/ })
  t.throws(() => readConfig({ TELEGRAM_CLIENT_SECRET: 'hush' }), { message: /^TELEGRAM_CLIENT_ID is required/ })
  t.throws(() => readConfig({ ...both, TELEGRAM_CLIENT_SECRET: 'hu sh' }), { message: /^(?!.*hu sh)/s })
})

t.test('sales need a key of Stripe and the secret of its webhooks', t => {
  t.equal(readConfig({}).payments, undefined)
  t.equal(
    readConfig({ STRIPE_SECRET_KEY: '', STRIPE_WEBHOOK_SECRET: '', MANAGED_PAYMENTS: 'true' }).payments,
    undefined,
  )
  const key = { STRIPE_SECRET_KEY: 'sk_test_hush1' }
  const both = { ...key, STRIPE_WEBHOOK_SECRET: 'whsec_hush2' }
  const payments = {
    ...{ secretKey: 'sk_test_hush1', webhookSecrets: ['whsec_hush2'], url: undefined },
    ...{ managedPayments: false, automaticTax: false, purchasesPerHour: 10 },
    withdrawalDays: 14,
  }
  t.same(readConfig(both).payments, payments)
  const more = { STRIPE_URL: 'http://127.0.0.1:4242', MANAGED_PAYMENTS: 'true', PURCHASES_PER_HOUR: '3' }
  t.same(readConfig({ ...both, ...more, STRIPE_WEBHOOK_SECRET: 'whsec_a,whsec_b+/=' }).payments, {
    ...{ ...payments, webhookSecrets: ['whsec_a', 'whsec_b+/='], url: 'http://127.0.0.1:4242' },
    ...{ managedPayments: true, purchasesPerHour: 3 },
  })
  for (const secret of [undefined, ''])
    t.throws(() => readConfig({ ...key, STRIPE_WEBHOOK_SECRET: secret }), {
      ...{ name: 'ConfigError', message: /^STRIPE_SECRET_KEY requires STRIPE_WEBHOOK_SECRET: .*anyone could report/ },
    })
  for (const secret of [
    'hush',
    ' ',
    'whsec_',
    'whsec_hush,',
    'whsec_hush,hush',
    'whsec_a,whsec_b,whsec_c',
    'whsec_a b',
  ])
    t.throws(
      () => readConfig({ ...key, STRIPE_WEBHOOK_SECRET: secret }),
      { name: 'ConfigError', message: /^STRIPE_WEBHOOK_SECRET must (?!.*hush)/s },
      secret,
    )
  for (const wrong of ['hush', 'pk_live_hush', 'sk_hush', 'sk_live_', 'sk_live_hu sh'])
    t.throws(() => readConfig({ ...both, STRIPE_SECRET_KEY: wrong }), {
      message: /^STRIPE_SECRET_KEY must (?!.*hush)/s,
    })
  t.throws(() => readConfig({ STRIPE_WEBHOOK_SECRET: 'whsec_hush' }), {
    message: /^STRIPE_WEBHOOK_SECRET requires STRIPE_SECRET_KEY. Set it to the secret/,
  })
  for (const url of [
    'http://stripe.example',
    'http://127.0.0.1.example:80',
    'https://a/v1',
    'http://10.0.0.1',
    'ftp://localhost',
  ])
    t.throws(() => readConfig({ ...both, STRIPE_URL: url }), { message: /^STRIPE_URL must / }, url)
  for (const url of ['https://stripe.example', 'http://localhost:1', 'http://[::1]:80'])
    t.equal(readConfig({ ...both, STRIPE_URL: url }).payments?.url, url)
  t.throws(() => readConfig({ ...both, MANAGED_PAYMENTS: 'true', AUTOMATIC_TAX: 'true' }), {
    message: 'Set MANAGED_PAYMENTS or AUTOMATIC_TAX, not both.',
  })
  t.equal(readConfig({ ...both, AUTOMATIC_TAX: 'true' }).payments?.automaticTax, true)
  t.throws(() => readConfig({ ...both, PURCHASES_PER_HOUR: '0' }), { message: /^PURCHASES_PER_HOUR must / })
  t.end()
})

t.test('operators are named by their addresses', t => {
  t.same(readConfig({}).adminEmails, [])
  const given = 'Ada@Example.com,grace@localhost,käthe@bücher.example'
  t.same(readConfig({ ADMIN_EMAILS: given }).adminEmails, [
    ...['ada@example.com', 'grace@localhost', 'käthe@xn--bcher-kva.example'],
  ])
  for (const value of ['ada', 'ada@example.com,', '@example.com', 'a b@example.com', 'a%b@example.com', 'a@1.2.3.4'])
    t.throws(() => readConfig({ ADMIN_EMAILS: value }), { name: 'ConfigError', message: /^ADMIN_EMAILS must / }, value)
  // The log could not record a longer name.
  const long = `${'a'.repeat(60)}@example.com`
  t.throws(() => readConfig({ ADMIN_EMAILS: long }), { message: /^ADMIN_EMAILS must .* at most 64 characters/ })
  t.end()
})

t.test('a secret can be in a file', async t => {
  const path = join(await temporaryFolder(t), 'secret')
  await writeFile(path, 'redis://:hush@redis:6379\n')
  t.match(readConfig({ VIEW_STORE_URL_FILE: path }).viewStore, { kind: 'redis', address: { password: 'hush' } })
  const both = { VIEW_STORE_URL_FILE: path, VIEW_STORE_URL: 'redis://redis' }
  t.throws(() => readConfig(both), { name: 'ConfigError', message: /^Set VIEW_STORE_URL or VIEW_STORE_URL_FILE, not/ })
  const missing = { MASTER_SECRET_FILE: `${path}-missing` }
  t.throws(() => readConfig(missing), { name: 'ConfigError', message: /^MASTER_SECRET_FILE must name a readable file/ })
  await writeFile(path, 'hush')
  // Even the value of a file is not shown.
  t.throws(() => readConfig({ MASTER_SECRET_FILE: path }), { message: /^MASTER_SECRET (?!.*hush)/ })
  t.match(readConfig({ SEAL_KEY_FILE: path }).seals.key, { kind: 'file', path })
})
