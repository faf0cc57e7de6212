import { createHash } from 'node:crypto'

/** A script that Redis runs as one step, and the name that Redis knows it by once it has seen it. */
export interface Script {
  text: string
  sha: string
}

const script = (text: string): Script => ({ text, sha: createHash('sha1').update(text).digest('hex') })

/** Lua hands a command no more than some thousand values at once. */
const AT_ONCE = 1000

const getMany = `
local function getMany(key, fields)
  local values = {}
  for first = 1, #fields, ${AT_ONCE} do
    local last = math.min(first + ${AT_ONCE - 1}, #fields)
    for _, value in ipairs(redis.call('HMGET', key, unpack(fields, first, last))) do values[#values + 1] = value end
  end
  return values
end
`

/**
 * KEYS: cells, order, dumps. ARGV: the event that the store must be at; the one it is at then, and its checkpoint;
 * how many cells are written; address and value of each; the addresses of those that are taken away.
 * Returns 0, and has written nothing, when the store is elsewhere.
 */
export const WRITE = script(`
if (redis.call('HGET', KEYS[1], 'eventId') or '') ~= ARGV[1] then return 0 end
local firstGone = 5 + 2 * tonumber(ARGV[4])
-- A script that fails keeps what it has written, so what may be refused is tried before, where it changes nothing.
redis.call('ZADD', KEYS[2], 'XX', 0, '')
redis.call('ZREM', KEYS[2], '')
redis.call('HDEL', KEYS[1], '')

for _, dump in ipairs(redis.call('SMEMBERS', KEYS[3])) do
  local was, touched = dump .. ':was', dump .. ':touched'
  local function keep(address)
    local value = redis.call('HGET', KEYS[1], address)
    if redis.call('HSETNX', was, address, value and '=' .. value or '') == 1 then
      redis.call('ZADD', touched, 0, address)
    end
  end
  if redis.call('EXISTS', was, touched) < 2 then
    redis.call('SREM', KEYS[3], dump)
  else
    for i = 5, firstGone - 1, 2 do keep(ARGV[i]) end
    for i = firstGone, #ARGV do keep(ARGV[i]) end
  end
end

-- Among the cells, so that whoever reads one sees in the same moment how far they reach, and none is lost without the other.
redis.call('HSET', KEYS[1], 'eventId', ARGV[2], 'checkpoint', ARGV[3], 'position', string.match(ARGV[3], '"position":(-?%d+)'))
for first = 5, firstGone - 1, ${AT_ONCE} do
  local last = math.min(first + ${AT_ONCE - 1}, firstGone - 1)
  redis.call('HSET', KEYS[1], unpack(ARGV, first, last))
  local places = {}
  for i = first, last, 2 do
    places[#places + 1] = 0
    places[#places + 1] = ARGV[i]
  end
  redis.call('ZADD', KEYS[2], unpack(places))
end
for first = firstGone, #ARGV, ${AT_ONCE} do
  local last = math.min(first + ${AT_ONCE - 1}, #ARGV)
  redis.call('HDEL', KEYS[1], unpack(ARGV, first, last))
  redis.call('ZREM', KEYS[2], unpack(ARGV, first, last))
end
return 1
`)

/**
 * KEYS: cells, order. ARGV: where to begin and to end; '1' for newest first; the limit; what the addresses of the rows begin
 * with that index entries name. Returns how far the cells reach, the addresses, the cells there, and the rows that these name.
 */
export const LIST = script(`
${getMany}
local low, high, limit = ARGV[1], ARGV[2], ARGV[4]
local found
if ARGV[3] == '1' then found = redis.call('ZREVRANGEBYLEX', KEYS[2], high, low, 'LIMIT', 0, limit)
else found = redis.call('ZRANGEBYLEX', KEYS[2], low, high, 'LIMIT', 0, limit) end
local values = getMany(KEYS[1], found)
local position = redis.call('HGET', KEYS[1], 'position')
if ARGV[5] == '' then return { position, found, values } end
local rows = {}
for i, key in ipairs(values) do rows[i] = ARGV[5] .. (key or '') end
return { position, found, values, getMany(KEYS[1], rows) }
`)

/**
 * Holds the moment for a dump: from now on each write keeps, beside the cells, what it changes for the first time.
 * KEYS: cells, dumps, the dump. ARGV: for how long. Returns the checkpoint.
 */
export const BEGIN_DUMP = script(`
local was, touched = KEYS[3] .. ':was', KEYS[3] .. ':touched'
redis.call('HSET', was, '', '')
redis.call('ZADD', touched, 0, '')
redis.call('PEXPIRE', was, ARGV[1])
redis.call('PEXPIRE', touched, ARGV[1])
redis.call('SADD', KEYS[2], KEYS[3])
return redis.call('HGET', KEYS[1], 'checkpoint')
`)

/** Holds the moment for longer. KEYS: the dump. ARGV: for how long. */
export const HOLD_DUMP = script(`
return redis.call('PEXPIRE', KEYS[1] .. ':was', ARGV[1]) + redis.call('PEXPIRE', KEYS[1] .. ':touched', ARGV[1])
`)

/**
 * KEYS: cells, order, the dump. ARGV: the address to go on after; the limit; for how long the moment is held.
 * Returns the last address that was looked at, '' at the end, and addresses and values as of the moment, in no order;
 * nothing when the moment is lost.
 */
export const READ_DUMP = script(`
${getMany}
local was, touched = KEYS[3] .. ':was', KEYS[3] .. ':touched'
if redis.call('PEXPIRE', was, ARGV[3]) + redis.call('PEXPIRE', touched, ARGV[3]) < 2 then return false end
local after = '(' .. ARGV[1]
local now = redis.call('ZRANGEBYLEX', KEYS[2], after, '+', 'LIMIT', 0, ARGV[2])
local last = #now == tonumber(ARGV[2]) and now[#now] or ''
local changed = redis.call('ZRANGEBYLEX', touched, after, last == '' and '+' or '[' .. last)
local cells, isChanged, same = {}, {}, {}
local function give(address, value)
  cells[#cells + 1] = address
  cells[#cells + 1] = value
end
for i, value in ipairs(getMany(was, changed)) do
  isChanged[changed[i]] = true
  if value ~= '' then give(changed[i], string.sub(value, 2)) end
end
for _, address in ipairs(now) do
  if not isChanged[address] then same[#same + 1] = address end
end
for i, value in ipairs(getMany(KEYS[1], same)) do give(same[i], value) end
return { last, cells }
`)

/** Lets go of the moment. KEYS: dumps, the dump. */
export const END_DUMP = script(`
redis.call('SREM', KEYS[1], KEYS[2])
return redis.call('UNLINK', KEYS[2] .. ':was', KEYS[2] .. ':touched')
`)

/**
 * KEYS: holders, ends. ARGV: the holder; now; until when; before when leases ended that nobody will miss; the keys.
 * Returns the keys that were taken.
 */
export const LEASE = script(`
for _, key in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[4], 'LIMIT', 0, ${AT_ONCE})) do
  redis.call('HDEL', KEYS[1], key)
  redis.call('ZREM', KEYS[2], key)
end
local taken = {}
for i = 5, #ARGV do
  local key = ARGV[i]
  local holder = redis.call('HGET', KEYS[1], key)
  if not holder or holder == ARGV[1] or tonumber(redis.call('ZSCORE', KEYS[2], key)) <= tonumber(ARGV[2]) then
    redis.call('HSET', KEYS[1], key, ARGV[1])
    redis.call('ZADD', KEYS[2], ARGV[3], key)
    taken[#taken + 1] = key
  end
end
return taken
`)

/** KEYS: holders, ends. ARGV: the holder; the keys. */
export const RELEASE = script(`
for i = 2, #ARGV do
  if redis.call('HGET', KEYS[1], ARGV[i]) == ARGV[1] then
    redis.call('HDEL', KEYS[1], ARGV[i])
    redis.call('ZREM', KEYS[2], ARGV[i])
  end
end
return 0
`)

/** KEYS: dumps, then all others. */
export const CLEAR = script(`
for _, dump in ipairs(redis.call('SMEMBERS', KEYS[1])) do redis.call('UNLINK', dump .. ':was', dump .. ':touched') end
return redis.call('UNLINK', unpack(KEYS))
`)
