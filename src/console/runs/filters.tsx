import type { Children } from '#jsx/jsx-runtime'
import { Icon } from '../parts/icon.tsx'
import { timeText } from './histogram.tsx'
import { addressOf, isRange, isStatus, RANGES, type ShownFilter, STATUS_NAMES } from './runs-filter.ts'

export interface Choices {
  models: readonly { id: string; name: string }[]
  keys: readonly { id: string; name: string; lastFour: string }[]
}

/** The filters of the list. Each is a link, so the filter lives in the address. */
export const Filters = ({ filter, choices: { models, keys } }: { filter: ShownFilter; choices: Choices }) => {
  const { range, from, to, status, model, key, label } = filter
  const isPart = from !== undefined || to !== undefined
  const keyName = keys.find(({ id }) => id === key)?.name
  return (
    <div class="filters">
      <Menu text={RANGES[range]} isOn={!isPart}>
        {Object.keys(RANGES)
          .filter(isRange)
          .map(name => (
            <Choice key={name} isChosen={name === range && !isPart} href={addressOf(filter, { range: name, ...WHOLE })}>
              {RANGES[name]}
            </Choice>
          ))}
      </Menu>
      {isPart && (
        <a class="chip on" href={addressOf(filter, WHOLE)}>
          {periodText(from, to)}
          <Icon name="x" />
          <span class="visually-hidden">Show the whole range</span>
        </a>
      )}
      <Menu text={`Status: ${status ? STATUS_NAMES[status] : 'any'}`} isOn={status !== undefined}>
        <Choice isChosen={status === undefined} href={addressOf(filter, { status: undefined })}>
          Any status
        </Choice>
        {Object.keys(STATUS_NAMES)
          .filter(isStatus)
          .map(name => (
            <Choice key={name} isChosen={name === status} href={addressOf(filter, { status: name })}>
              {STATUS_NAMES[name]}
            </Choice>
          ))}
      </Menu>
      <Menu text={`Model: ${models.find(({ id }) => id === model)?.name ?? model ?? 'any'}`} isOn={model !== undefined}>
        <input type="search" data-narrows aria-label="Search models" placeholder="Search models" hidden />
        <Choice isChosen={model === undefined} href={addressOf(filter, { model: undefined })}>
          Any model
        </Choice>
        {models.map(({ id, name }) => (
          <Choice key={id} isChosen={id === model} href={addressOf(filter, { model: id })}>
            {name}
          </Choice>
        ))}
      </Menu>
      <Menu text={`Key: ${keyName ?? key ?? 'any'}`} isOn={key !== undefined}>
        <Choice isChosen={key === undefined} href={addressOf(filter, { key: undefined })}>
          Any key
        </Choice>
        {keys.map(({ id, name, lastFour }) => (
          <Choice key={id} isChosen={id === key} href={addressOf(filter, { key: id })}>
            <bdi>{name}</bdi> <span class="faint">…{lastFour}</span>
          </Choice>
        ))}
      </Menu>
      <Menu text={`Label: ${label ?? 'any'}`} isOn={label !== undefined}>
        <Choice isChosen={label === undefined} href={addressOf(filter, { label: undefined })}>
          Any label
        </Choice>
        <div
          {...{ 'hx-get': labelsOf(filter), 'hx-trigger': 'toggle from:closest details once', 'hx-swap': 'outerHTML' }}
        />
        <LabelForm filter={filter} />
      </Menu>
    </div>
  )
}

/** The address of the labels of the range. */
const labelsOf = (filter: ShownFilter) => addressOf(filter).replace('/console/runs', '/console/runs/labels')

/** The labels of the range that spent most. */
export const LabelChoices = ({ filter, labels }: { filter: ShownFilter; labels: readonly string[] }) => (
  <>
    {labels.map(label => (
      <Choice key={label} isChosen={label === filter.label} href={addressOf(filter, { label })}>
        <bdi class="cut">{label}</bdi>
      </Choice>
    ))}
  </>
)

const WHOLE = { from: undefined, to: undefined }

const Menu = ({ text, isOn, children }: { text: string; isOn: boolean; children: Children }) => (
  <details class="menu">
    <summary class={isOn ? 'chip on' : 'chip'}>
      <span class="cut">
        <bdi>{text}</bdi>
      </span>
      <Icon name="chevron-down" />
    </summary>
    <div class="choices">{children}</div>
  </details>
)

const Choice = ({ href, isChosen, children }: { href: string; isChosen: boolean; children: Children }) => (
  <a href={href} {...(isChosen && { 'aria-current': 'true' as const })}>
    {children}
    {isChosen && <Icon name="check" />}
  </a>
)

/** An account may have as many labels as runs, so its owner can type one. */
const LabelForm = ({ filter }: { filter: ShownFilter }) => (
  <form action="/console/runs" class="row">
    {Object.entries(filter)
      .filter(([name, value]) => name !== 'label' && value !== undefined)
      .map(([name, value]) => (
        <input type="hidden" name={name} value={value} key={name} />
      ))}
    <input name="label" aria-label="Label" placeholder="another label" value={filter.label ?? ''} autocomplete="off" />
    <button type="submit">Show</button>
  </form>
)

const periodText = (from: string | undefined, to: string | undefined): string => {
  if (from === undefined) return `until ${timeText(to ?? '')}`
  if (to === undefined) return `since ${timeText(from)}`
  const [start, end] = [timeText(from), timeText(to)]
  const [day, time] = end.split(', ')
  return `${start} – ${time !== undefined && start.startsWith(`${day},`) ? time : end}`
}
