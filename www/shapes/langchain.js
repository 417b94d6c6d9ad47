// LangChain: { type, content } as it is, wrapped in `data` where it is stored, in `kwargs` where it is serialized.
import { object } from '../parts.js';

/** The message inside, with its role; null when it is not LangChain's. */
export function unwrap(message) {
  const { type, data, kwargs, id, _harn_projection } = message;
  if (message.role !== undefined || typeof type !== 'string') return null;
  if (type === 'constructor' && object(kwargs)) {
    const role = Array.isArray(id)
      ? String(id.at(-1))
          .replace(/Message(Chunk)?$/, '')
          .toLowerCase()
      : 'message';
    return { ...kwargs, role, _harn_projection };
  }
  if (object(data) && (data.content !== undefined || data.tool_calls !== undefined))
    return { ...data, role: type, _harn_projection };
  return null;
}
