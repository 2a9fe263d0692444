#: gather · retried
def handler(event, context):
    asyncio.run(main(event))
async def main(event):
    await asyncio.gather(*[one(record) for record in event["Records"]])
async def one(record):
    await ship_later(record)

#: gather with exceptions as results · deleted
def handler(event, context):
    asyncio.run(main(event))
async def main(event):
    await asyncio.gather(*[one(record) for record in event["Records"]], return_exceptions=True)
async def one(record):
    await ship_later(record)

#: gather, results raised · retried
def handler(event, context):
    asyncio.run(main(event))
async def main(event):
    results = await asyncio.gather(*[one(r) for r in event["Records"]], return_exceptions=True)
    for result in results:
        if isinstance(result, Exception):
            raise result
async def one(record):
    await ship_later(record)

#: gather, results reported · partly retried
def handler(event, context):
    return asyncio.run(main(event))
async def main(event):
    results = await asyncio.gather(*[one(r) for r in event["Records"]], return_exceptions=True)
    failed = [r["messageId"] for r, result in zip(event["Records"], results) if isinstance(result, Exception)]
    return {"batchItemFailures": [{"itemIdentifier": one} for one in failed]}
async def one(record):
    await ship_later(record)

#: coroutine never awaited · deleted
def handler(event, context):
    for record in event["Records"]:
        one(record)
async def one(record):
    await ship_later(record)

#: event loop · retried
def handler(event, context):
    loop = asyncio.new_event_loop()
    loop.run_until_complete(main(event))
async def main(event):
    for record in event["Records"]:
        await ship_later(record)

#: awaited in a loop and caught · deleted
def handler(event, context):
    asyncio.run(main(event))
async def main(event):
    for record in event["Records"]:
        try:
            await ship_later(record)
        except Exception as error:
            print(error)

#: pool, futures dropped · deleted
def handler(event, context):
    with ThreadPoolExecutor() as pool:
        for record in event["Records"]:
            pool.submit(ship, record)

#: pool, results read · retried
def handler(event, context):
    with ThreadPoolExecutor() as pool:
        futures = [pool.submit(ship, record) for record in event["Records"]]
    for future in futures:
        future.result()

#: pool, results of as_completed · retried
def handler(event, context):
    with ThreadPoolExecutor(max_workers=4) as pool:
        futures = [pool.submit(ship, record) for record in event["Records"]]
        for future in as_completed(futures):
            future.result()

#: pool, exceptions logged · deleted
def handler(event, context):
    with ThreadPoolExecutor() as pool:
        futures = [pool.submit(ship, record) for record in event["Records"]]
    for future in futures:
        try:
            future.result()
        except Exception as error:
            print(error)

#: pool, exceptions raised · retried
def handler(event, context):
    with ThreadPoolExecutor() as pool:
        futures = [pool.submit(ship, record) for record in event["Records"]]
    for future in futures:
        if future.exception() is not None:
            raise future.exception()

#: pool map, results dropped · deleted
def handler(event, context):
    with ThreadPoolExecutor() as pool:
        pool.map(ship, event["Records"])

#: pool map, results read · retried
def handler(event, context):
    with ThreadPoolExecutor() as pool:
        list(pool.map(ship, event["Records"]))

#: pool, response · partly retried
def handler(event, context):
    failed = []
    with ThreadPoolExecutor() as pool:
        futures = {record["messageId"]: pool.submit(ship, record) for record in event["Records"]}
    for record in event["Records"]:
        try:
            ship(record)
        except Exception:
            failed.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": failed}

#: task awaited later · retried
def handler(event, context):
    asyncio.run(main(event))
async def main(event):
    tasks = [asyncio.create_task(one(record)) for record in event["Records"]]
    for task in tasks:
        await task
async def one(record):
    await ship_later(record)

#: task never awaited · deleted
def handler(event, context):
    asyncio.run(main(event))
async def main(event):
    for record in event["Records"]:
        asyncio.create_task(one(record))
async def one(record):
    await ship_later(record)

#: task group · retried
def handler(event, context):
    asyncio.run(main(event))
async def main(event):
    async with asyncio.TaskGroup() as group:
        for record in event["Records"]:
            group.create_task(one(record))
async def one(record):
    await ship_later(record)

#: wait, results raised · retried
def handler(event, context):
    asyncio.run(main(event))
async def main(event):
    tasks = [asyncio.create_task(one(record)) for record in event["Records"]]
    done, pending = await asyncio.wait(tasks)
    for task in done:
        task.result()
async def one(record):
    await ship_later(record)
