import t from 'tap'
import { parseBound } from '../../../src/audit/statement/period.ts'
import { localText, parseZone, startOfDay } from '../../../src/audit/statement/zone.ts'

t.test('only names of the IANA database are zones', async t => {
  for (const zone of ['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'])
    t.equal(parseZone(zone), zone)
  for (const text of ['', 'Mars/Olympus', '+01:00', '-0530', 'local', 'Europe/Berlin ', '../UTC', '\u001b[2J'])
    t.equal(parseZone(text), undefined, text)
})

t.test('a day begins at midnight of its zone, also beside a change of the clocks', async t => {
  const cases: [day: string, zone: string, start: string][] = [
    ['2026-11-23', 'UTC', '2026-11-23T00:00:00.000Z'],
    ['2026-11-23', 'Asia/Kolkata', '2026-11-22T18:30:00.000Z'],
    ['2026-11-23', 'Pacific/Kiritimati', '2026-11-22T10:00:00.000Z'],
    // In Berlin, 29 March has 23 hours, and 25 October has 25.
    ['2026-03-29', 'Europe/Berlin', '2026-03-28T23:00:00.000Z'],
    ['2026-03-30', 'Europe/Berlin', '2026-03-29T22:00:00.000Z'],
    ['2026-10-25', 'Europe/Berlin', '2026-10-24T22:00:00.000Z'],
    ['2026-10-26', 'Europe/Berlin', '2026-10-25T23:00:00.000Z'],
    // The clocks leapt from midnight to one o'clock.
    ['2018-11-04', 'America/Sao_Paulo', '2018-11-04T03:00:00.000Z'],
    // Samoa crossed the date line and had no 30 December.
    ['2011-12-30', 'Pacific/Apia', '2011-12-30T10:00:00.000Z'],
    ['2011-12-31', 'Pacific/Apia', '2011-12-30T10:00:00.000Z'],
  ]
  for (const [day, zone, start] of cases) t.equal(startOfDay(day, zone), start, `${day} in ${zone}`)
})

t.test('an hour that the clocks show twice is told apart by its offset', async t => {
  t.equal(localText('2026-10-25T00:30:00.000Z', 'Europe/Berlin'), '2026-10-25T02:30:00.000+02:00')
  t.equal(localText('2026-10-25T01:30:00.000Z', 'Europe/Berlin'), '2026-10-25T02:30:00.000+01:00')
  t.equal(localText('2026-01-01T00:00:00.007Z', 'America/St_Johns'), '2025-12-31T20:30:00.007-03:30')
})

t.test('a bound is a date, or a time with an offset', async t => {
  t.equal(parseBound('2026-11-01', 'Europe/Berlin'), '2026-10-31T23:00:00.000Z')
  t.equal(parseBound('2026-11-01T00:00:00Z', 'Europe/Berlin'), '2026-11-01T00:00:00.000Z')
  t.equal(parseBound('2026-11-01T00:00:00+02:00', 'UTC'), '2026-10-31T22:00:00.000Z')
  for (const text of ['', 'yesterday', '2026-02-30', '2026-11-01T00:00:00', '12', 'position:12', '0001-01-01'])
    t.equal(parseBound(text, 'UTC'), undefined, text)
})
