import type OpenAI from 'openai'
import t from 'tap'
import type { RunList } from '../../../schemas/api/run.ts'
import { openAiClient } from '../../support/openai-client.ts'
import { openAccount, startService } from '../../support/service.ts'

const service = await startService(t)
const customer = await openAccount(service, { credits: 1_000 })
const { client, sent } = openAiClient(customer, { maxRetries: 0 })
const lastRun = async () => (await customer.send<RunList>('/v1/runs?include=input')).body.data[0]

const input = 'The ferry leaves in ten minutes.'

t.test('speech is a run, and its file is the answer', async t => {
  const asked = { model: 'eleven-v3', input, voice: 'Charlotte', response_format: 'wav', speed: 1 } as const
  const answer = await client.audio.speech.create(asked)
  const bytes = Buffer.from(await answer.arrayBuffer())
  const run = await lastRun()
  t.match(run, {
    ...{ model: 'eleven-v3', status: 'completed' },
    input: { text: input, voice: 'Charlotte', output_format: 'wav' },
  })
  t.equal(answer.headers.get('Content-Type'), 'audio/wav')
  t.equal(answer.headers.get('Content-Length'), String(bytes.length))
  t.equal(answer.headers.get('Tollgate-Run'), run?.run_id)
  const file = await fetch(String(run?.output?.url).replace('//localhost', '//127.0.0.1'))
  t.ok(bytes.equals(Buffer.from(await file.arrayBuffer())))
  t.equal(await customer.balance(), 990)
})

t.test('the voice and the speed are those of the model', async t => {
  const answer = await client.audio.speech.create({
    ...{ model: 'minimax-speech-2-6', input, voice: 'Patient_Man', speed: 1.2 },
  })
  t.equal(answer.headers.get('Content-Type'), 'audio/mpeg')
  await answer.arrayBuffer()
  t.match(await lastRun(), { input: { voice_id: 'Patient_Man', speed: 1.2, output_format: 'mp3' } })
})

t.test('what a model lacks is refused with its name and costs nothing', async t => {
  const cases: [parameters: object, param: string, message: RegExp][] = [
    [{ voice: 'alloy' }, 'voice', /must be one of Aria/],
    [{ model: 'minimax-speech-2-6', voice: 'alloy' }, 'voice', /must be one of Wise_Woman/],
    [{ model: 'minimax-speech-2-6', voice_id: 'Abbess', voice: 'Abbess' }, 'voice_id', /the same as voice/],
    [{ voice: { id: 'voice_1' } }, 'voice', /must be a string/],
    [{ response_format: 'opus' }, 'response_format', /must be one of mp3, wav/],
    [{ speed: 1.5 }, 'speed', /must be .+, since/],
    [{ instructions: 'Whisper.' }, 'instructions', /must be .+, since/],
    [{ stream_format: 'sse' }, 'stream_format', /must be .+, since/],
    [{ input: 'x'.repeat(1_001) }, 'input', /at most 1000 characters/],
    [{ model: 'lyria-2' }, 'model', /must be a model of speech/],
    [{ model: 'gpt-6-1-terra' }, 'model', /output_type audio, not text/],
  ]
  const balance = await customer.balance()
  for (const [parameters, param, message] of cases) {
    const asked = {
      model: 'eleven-v3',
      input,
      voice: undefined,
      ...parameters,
    } as unknown as OpenAI.Audio.SpeechCreateParams
    await t.rejects(
      client.audio.speech.create(asked),
      { status: 400, type: 'invalid_request_error', param, message },
      JSON.stringify(parameters),
    )
  }
  t.equal(await customer.balance(), balance)
  t.equal(sent.filter(({ status }) => status === 200).length, 2)
})
