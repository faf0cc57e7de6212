import { createHash } from 'node:crypto'

/** A script that Redis runs atomically, and the hash under which Redis caches it. */
export interface Script {
  text: string
  sha: string
}

const script = (text: string): Script => ({ text, sha: createHash('sha1').update(text).digest('hex') })

/** Lua can unpack only a few thousand values at once. */
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

/** KEYS: cells, order. Returns the text of the checkpoint, the additional fields, and the addresses in order. */
export const READ_CHECKPOINT = script(`
local fields = redis.call('HLEN', KEYS[1]) - redis.call('HEXISTS', KEYS[1], 'checkpoint')
return { redis.call('HGET', KEYS[1], 'checkpoint'), fields, redis.call('ZCARD', KEYS[2]) }
`)

/**
 * KEYS: cells, order, dumps. ARGV: the expected checkpoint; the new one; the number of cells to write; the address and
 * value of each; the addresses of cells to delete. The stored text of a checkpoint also holds the number of cells.
 * Returns 0, and writes nothing, if the store has another checkpoint or has lost cells.
 */
export const WRITE = script(`
local was = redis.call('HGET', KEYS[1], 'checkpoint') or ''
if string.gsub(was, ',"cells":%d+}$', '}') ~= ARGV[1] then return 0 end
local fields = redis.call('HLEN', KEYS[1]) - redis.call('HEXISTS', KEYS[1], 'checkpoint')
local named = tonumber(string.match(was, ',"cells":(%d+)}$') or fields)
if fields ~= redis.call('ZCARD', KEYS[2]) or fields ~= named then return 0 end
local firstGone = 4 + 2 * tonumber(ARGV[3])
-- A failed script keeps its writes, so commands that may be refused are first tried without effect.
redis.call('ZADD', KEYS[2], 'XX', 0, '')
redis.call('ZREM', KEYS[2], '')
redis.call('HDEL', KEYS[1], '')
redis.call('HSET', KEYS[1], '', '')
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
    for i = 4, firstGone - 1, 2 do keep(ARGV[i]) end
    for i = firstGone, #ARGV do keep(ARGV[i]) end
  end
end

for first = 4, firstGone - 1, ${AT_ONCE} do
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
-- In the same hash as the cells, so that a read gets both atomically, and neither is lost without the other.
local named = string.format(',"cells":%d}', redis.call('ZCARD', KEYS[2]))
redis.call('HSET', KEYS[1], 'checkpoint', string.sub(ARGV[2], 1, -2) .. named)
return 1
`)

/**
 * KEYS: cells, order. ARGV: start and end; '1' for newest first; the limit; the address prefix of the rows to which
 * index entries refer. Returns the checkpoint of the store, the addresses, their cells, and the referenced rows.
 */
export const LIST = script(`
${getMany}
local low, high, limit = ARGV[1], ARGV[2], ARGV[4]
local found
if ARGV[3] == '1' then found = redis.call('ZREVRANGEBYLEX', KEYS[2], high, low, 'LIMIT', 0, limit)
else found = redis.call('ZRANGEBYLEX', KEYS[2], low, high, 'LIMIT', 0, limit) end
local values = getMany(KEYS[1], found)
local checkpoint = redis.call('HGET', KEYS[1], 'checkpoint')
if ARGV[5] == '' then return { checkpoint, found, values } end
local rows = {}
for i, key in ipairs(values) do rows[i] = ARGV[5] .. (key or '') end
return { checkpoint, found, values, getMany(KEYS[1], rows) }
`)

/**
 * Begins a snapshot for a dump: each later write saves the old value of a cell that it changes for the first time.
 * KEYS: cells, dumps, the dump. ARGV: the time to live. Returns the checkpoint.
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

/** Extends a snapshot. KEYS: the dump. ARGV: the time to live. */
export const HOLD_DUMP = script(`
return redis.call('PEXPIRE', KEYS[1] .. ':was', ARGV[1]) + redis.call('PEXPIRE', KEYS[1] .. ':touched', ARGV[1])
`)

/**
 * KEYS: cells, order, the dump. ARGV: the address to continue after; the limit; the time to live.
 * Returns the last address read, '' at the end, and addresses and values of the snapshot, unordered; nothing if the
 * snapshot has expired.
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

/** Releases the snapshot. KEYS: dumps, the dump. */
export const END_DUMP = script(`
redis.call('SREM', KEYS[1], KEYS[2])
return redis.call('UNLINK', KEYS[2] .. ':was', KEYS[2] .. ':touched')
`)

/**
 * KEYS: holders, ends. ARGV: the holder; now; the new end; the end up to which expired leases are deleted; the end
 * after which leases are void; the keys. Returns the leased keys.
 */
export const LEASE = script(`
for _, key in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[4], 'LIMIT', 0, ${AT_ONCE})) do
  redis.call('HDEL', KEYS[1], key)
  redis.call('ZREM', KEYS[2], key)
end
local taken = {}
for i = 6, #ARGV do
  local key = ARGV[i]
  local holder = redis.call('HGET', KEYS[1], key)
  local ends = holder and tonumber(redis.call('ZSCORE', KEYS[2], key))
  if not holder or holder == ARGV[1] or ends <= tonumber(ARGV[2]) or ends > tonumber(ARGV[5]) then
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

/**
 * KEYS: reports. ARGV: the reporter; the end up to which expired reports are deleted; the end after which reports are
 * void; the end and the text of the new report, separated by a space, or nothing to delete the reporter's report.
 */
export const REPORT = script(`
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local untilMs = tonumber(string.match(all[i + 1], '^%d+')) or 0
  if untilMs <= tonumber(ARGV[2]) or untilMs > tonumber(ARGV[3]) then redis.call('HDEL', KEYS[1], all[i]) end
end
if ARGV[4] then return redis.call('HSET', KEYS[1], ARGV[1], ARGV[4]) end
return redis.call('HDEL', KEYS[1], ARGV[1])
`)

/** KEYS: dumps, then all other keys. */
export const CLEAR = script(`
for _, dump in ipairs(redis.call('SMEMBERS', KEYS[1])) do redis.call('UNLINK', dump .. ':was', dump .. ':touched') end
return redis.call('UNLINK', unpack(KEYS))
`)
