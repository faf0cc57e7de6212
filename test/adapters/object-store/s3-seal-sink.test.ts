import { Client } from 'minio'
import t from 'tap'
import { openS3SealSink } from '../../../src/adapters/object-store/s3-seal-sink.ts'
import { Damaged, Unavailable } from '../../../src/ports/faults.ts'
import type { SealCopy } from '../../../src/ports/seal-sink.ts'
import { needsS3, startRadosgw } from '../../support/radosgw.ts'
import { sealCopies } from '../../support/seal-copies.ts'

t.test('seals are objects of a bucket', needsS3(), async t => {
  const server = await startRadosgw()
  t.teardown(() => server.stop())
  const { host, port, region, accessKey, secretKey } = server
  const client = new Client({ endPoint: host, port, region, accessKey, secretKey, useSSL: false })
  const open = (bucket: string, prefix = 'a b/seals/') => {
    const sink = openS3SealSink({ host, port, tls: false, region, accessKey, secretKey, bucket, prefix })
    t.teardown(() => sink.close())
    return sink
  }
  const newBucket = () => server.createBucket()

  t.test('each has an object, and the newest one is found, wherever the gaps are', async t => {
    const bucket = await newBucket()
    for (const [index, numbers] of [[0], [1], [1, 2, 3], [3, 4, 9, 10, 11, 40], [1, 7, 100, 101]].entries()) {
      const prefix = `seals-${index}/`
      const sink = open(bucket, prefix)
      t.equal(await sink.last(), undefined)
      const seals = sealCopies(...numbers)
      for (const [at, seal] of seals.entries()) {
        await sink.append([seal], seals[at - 1])
        t.match(await open(bucket, prefix).last(), { number: seal.number, link: seal.link })
      }
    }
  })

  t.test('a seal that is put again does no harm', async t => {
    const bucket = await newBucket()
    const sink = open(bucket)
    const seals = sealCopies(1, 2)
    await sink.append(seals, undefined)
    await sink.append(seals, undefined)
    const { number, link, text } = seals[1] as SealCopy
    t.same(await sink.last(), { number, link })
    const object = await client.getObject(bucket, 'a b/seals/0000000000000002.json')
    t.equal((await object.toArray()).join(''), `${text}\n`)
  })

  t.test('other objects in the place, and a missing bucket, are told', async t => {
    const bucket = await newBucket()
    await client.putObject(bucket, 'x/readme.txt', 'hello')
    await t.rejects(open(bucket, 'x/').last(), Damaged)
    await client.putObject(bucket, 'y/0000000000000002.json', 'hello')
    await t.rejects(open(bucket, 'y/').last(), Damaged)
    await t.rejects(open('missing-bucket').last(), Unavailable)
    await t.rejects(open('missing-bucket').append(sealCopies(1), undefined), Unavailable)
  })
})
